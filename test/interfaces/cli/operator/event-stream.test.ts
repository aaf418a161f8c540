import fc from "fast-check";
import { readEvents } from "../../../../src/interfaces/cli/operator/client.ts";

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const place of [...places, bytes.length]) {
    await Promise.resolve();
    yield bytes.subarray(from, place);
    from = place;
  }
}

async function eventsOf(text: string, cuts: readonly number[] = []) {
  const events = [];
  for await (const event of readEvents(inPieces(new TextEncoder().encode(text), cuts))) {
    events.push(event);
  }
  return events;
}

test("the parser of event streams yields each event with its name, id and data", async () =>
  expect(await eventsOf("retry: 2000\n\nevent: log\nid: f:1\ndata: {}\n\ndata: x\n\n")).toEqual([
    { event: "log", id: "f:1", data: "{}" },
    { event: "message", id: "f:1", data: "x" },
  ]));

test("the parser of event streams accepts any split of the bytes, even within characters", async () => {
  const text = "event: log\nid: ü:1\ndata: žluťoučký 🐎\n\n: beat\n\nevent: log\ndata: 2\n\n";
  const whole = await eventsOf(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(200)), async (cuts) => {
      expect(await eventsOf(text, cuts)).toEqual(whole);
    }),
  );
});

test("the parser of event streams rejects endless data", async () => {
  async function* endless() {
    yield new TextEncoder().encode("data: ");
    for (;;) yield await Promise.resolve(new Uint8Array(1024 * 1024).fill(97));
  }
  const read = async () => {
    for await (const { data } of readEvents(endless())) expect(data).toBe("");
  };
  await expect(read()).rejects.toThrow("exceeded");
});
