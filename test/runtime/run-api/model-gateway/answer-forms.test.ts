import { gzipSync } from "node:zlib";
import { post, startWire, type Answer } from "./support.ts";
import { completions } from "./wires/openai.ts";

const start = (answer: Answer) => startWire(completions, answer);

test("an answer compressed against the request is read and sent plain", async () => {
  const text = completions.stream("\n");
  const { gateway, url } = await start((_asked, response) => {
    const body = gzipSync(text);
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "content-encoding": "gzip",
      "content-length": body.length,
    });
    response.end(body);
  });
  const reply = await post(url, completions.body);
  expect(reply).toMatchObject({ status: 200, text, isWhole: true });
  expect(reply.headers).not.toHaveProperty("content-encoding");
  expect(gateway.meter.ends).toMatchObject([{ usage: completions.usage, estimated: false }]);
});

test.each(["GZIP", "x-gzip"])("an answer compressed as %s is read too", async (encoding) => {
  const text = completions.stream("\n");
  const { gateway, url } = await start((_asked, response) => {
    response.writeHead(200, { "content-encoding": encoding }).end(gzipSync(text));
  });
  expect(await post(url, completions.body)).toMatchObject({ status: 200, text });
  expect(gateway.meter.ends).toMatchObject([{ usage: completions.usage, estimated: false }]);
});

test.each(["gzip, gzip", "lzma", "constructor"])(
  "an answer compressed as %s is not forwarded, and its input counted",
  async (encoding) => {
    const { gateway, url } = await start((_asked, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end("real-key");
    });
    const reply = await post(url, completions.body);
    expect(reply.status).toBe(502);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: "upstream_encoding" } });
    expect(reply.text).toContain(
      `compresses its answer as ${JSON.stringify(JSON.stringify(encoding)).slice(1, -1)}`,
    );
    expect(await gateway.settled()).toMatchObject({ usage: { output: 0 }, estimated: true });
  },
);

test.each([
  ["application/json", '{"choices":[{"message":{"content":"123456'],
  ["application/json", "0123456789 is no JSON"],
  ["application/x-protobuf", "0123456789 is no JSON"],
  ["text/event-stream", "data: 0123456789 is no JSON\n\n"],
])(
  "an answer in another form than the API's counts with all of its bytes: %s %s",
  async (type, text) => {
    const { gateway, url } = await start((_asked, response) => {
      response.writeHead(200, { "content-type": type }).end(text);
    });
    expect((await post(url, completions.body)).text).toBe(text);
    const output = Math.ceil(text.length / 3);
    expect(await gateway.settled()).toMatchObject({ usage: { output }, estimated: true });
  },
);
