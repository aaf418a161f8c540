import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pause } from "../../../helpers/pause.ts";
import { beginStream, startWire } from "./support.ts";
import { completions } from "./wires/openai.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const mebibyte = 1024 * 1024;

/** What the process holds, in MiB, after a garbage collection. */
function heldMiB(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mebibyte;
}

async function opened(url: string, body: string): Promise<IncomingMessage> {
  const request = httpRequest(url, { method: "POST", agent: false });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

test("100 concurrent model streams keep no request body in memory, and each is complete", async () => {
  const released = Promise.withResolvers<undefined>();
  const answer = async (user: string, response: ServerResponse) => {
    beginStream(response, `data: {"user":"${user}"}\n\n`);
    await released.promise;
    response.end(completions.stream("\n"));
  };
  // The provider of the test keeps no body itself.
  const { provider, gateway, url } = await startWire(completions, ({ json }, response) => {
    provider.asked.length = 0;
    void answer(String(json.user), response);
  });
  const before = heldMiB();
  const messages = [{ role: "user", content: "x".repeat(mebibyte / 2) }];
  const streams: IncomingMessage[] = [];
  for (let n = 0; n < 100; n++) {
    streams.push(await opened(url, JSON.stringify({ stream: true, user: `user ${n}`, messages })));
  }
  await expect.poll(() => heldMiB() - before).toBeLessThan(25);
  released.resolve(undefined);
  const texts = await Promise.all(streams.map((stream) => text(stream)));
  texts.forEach((one, n) =>
    expect(one).toBe(`data: {"user":"user ${n}"}\n\n${completions.stream("\n")}`),
  );
  await gateway.settled(100);
  const { usage } = completions;
  for (const end of gateway.meter.ends) expect(end).toMatchObject({ usage, estimated: false });
});

test("a client that doesn't read its model stream makes the provider wait", async () => {
  const size = 48 * mebibyte;
  let written = 0;
  const { url } = await startWire(completions, async (_asked, response) => {
    response.on("error", () => undefined);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = Buffer.from(`data: {"text":"${"x".repeat(65_000)}"}\n\n`);
    while (written < size && !response.destroyed) {
      written += chunk.length;
      if (!response.write(chunk)) await once(response, "drain").catch(() => undefined);
    }
    response.end();
  });
  const stream = await opened(url, "{}");
  stream.pause();
  await pause(500, "the provider must not write all of its answer");
  expect(written).toBeLessThan(size / 2);
  expect((await text(stream)).length).toBe(written);
});
