import { demuxer } from "../../../../src/runtime/runners/container/live-output.ts";

function frame(type: 1 | 2, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = type;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

function taken(chunks: readonly Buffer[]) {
  const out = { stdout: "", stderr: "" };
  const frames = demuxer({
    stdout: (chunk) => (out.stdout += chunk.toString()),
    stderr: (chunk) => (out.stderr += chunk.toString()),
  });
  for (const chunk of chunks) frames.push(chunk);
  return out;
}

const whole = Buffer.concat([frame(1, "out "), frame(2, "err"), frame(1, ""), frame(1, "more")]);

test("the container engine's multiplexed stream is parsed for any split into chunks", () => {
  for (let size = 1; size <= whole.length; size += 1) {
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.subarray(index * size, (index + 1) * size),
    );
    expect(taken(chunks)).toEqual({ stdout: "out more", stderr: "err" });
  }
});

test("the container engine's multiplexed stream emits the beginning of a frame before its end arrives", () =>
  expect(taken([frame(1, "a long line").subarray(0, 12)]).stdout).toBe("a lo"));
