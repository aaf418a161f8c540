import { gzipSync } from "node:zlib";
import { post, sending, startWire } from "./support.ts";
import { completions } from "./wires/openai.ts";

test.each(["gzip", "GZIP", "x-gzip"])(
  "the model gateway decompresses a response in %s that the request did not accept",
  async (encoding) => {
    const text = completions.stream("\n");
    const body = gzipSync(text);
    const headers = { "content-encoding": encoding, "content-length": body.length };
    const { gateway, url } = await startWire(completions, sending(body, headers));
    const reply = await post(url, completions.body);
    expect(reply).toMatchObject({ status: 200, text, isWhole: true });
    expect(reply.headers).not.toHaveProperty("content-encoding");
    expect(gateway.meter.ends).toMatchObject([{ usage: completions.usage, estimated: false }]);
  },
);

test.each(["gzip, gzip", "lzma", "constructor"])(
  "the model gateway rejects a response in the unknown encoding %s, and charges the input",
  async (encoding) => {
    const closed = Promise.withResolvers<string>();
    const { gateway, url } = await startWire(completions, (_asked, response) => {
      response.once("close", () => closed.resolve("closed"));
      response.writeHead(200, { "content-encoding": encoding }).write("the rest never comes");
    });
    const reply = await post(url, completions.body);
    expect(reply.status).toBe(502);
    const { error } = JSON.parse(reply.text) as { error: { code: string; message: string } };
    expect(error.code).toBe("upstream_encoding");
    expect(error.message).toContain(`compresses its answer as "${encoding}"`);
    expect(await closed.promise).toBe("closed");
    expect(await gateway.settled()).toMatchObject({ usage: { output: 0 }, estimated: true });
  },
);

test.each([
  ["application/json", '{"choices":[{"message":{"content":"123456'],
  ["application/x-protobuf", "0123456789 is no JSON"],
  ["text/event-stream", "data: 0123456789 is no JSON\n\n"],
])(
  "a model response with the wrong content type %s is charged by its bytes",
  async (type, text) => {
    const answer = sending(text, { "content-type": type });
    const { gateway, url } = await startWire(completions, answer);
    expect((await post(url, completions.body)).text).toBe(text);
    const output = Math.ceil(text.length / 3);
    expect(await gateway.settled()).toMatchObject({ usage: { output }, estimated: true });
  },
);
