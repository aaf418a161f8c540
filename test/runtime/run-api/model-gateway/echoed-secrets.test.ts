import { gzipSync } from "node:zlib";
import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { post, sending, sendInPieces, startWire, type Answer } from "./support.ts";
import { completions } from "./wires/openai.ts";

const key = "sk-proj-s-sk-proj-4711";
const hidden = "*".repeat(key.length);

/** Asks a provider that repeats what it was sent. */
async function ask(answer: Answer, model: Partial<UpstreamModel> = {}) {
  const { gateway, url } = await startWire(completions, answer, { model: { key, ...model } });
  return { gateway, reply: await post(url, completions.body) };
}

describe("an API key that a model provider repeats is masked", () => {
  test("in an error, with a valid content-length", async () => {
    const text = `{"error":{"message":"Incorrect API key provided: ${key}."}}`;
    const { reply } = await ask(sending(text, { "content-length": text.length }, 401));
    expect(reply).toMatchObject({ status: 401, isWhole: true, text: text.replace(key, hidden) });
  });

  test("in headers, and in the target of a redirect", async () => {
    const headers = { [`x-ratelimit-${key}`]: "1", "request-id": `req-${key}` };
    const { reply } = await ask(
      sending("", { ...headers, "content-type": `text/plain; a=${key}` }),
    );
    expect(reply.headers["request-id"]).toBe(`req-${hidden}`);
    expect(JSON.stringify(reply.headers)).not.toContain(key);
    const redirected = await ask(sending("", { location: `https://${key}.example/` }, 307));
    expect(redirected.reply.status).toBe(502);
    expect(redirected.reply.text).not.toContain(key);
  });

  test("in a compressed response", async () => {
    const { reply } = await ask(sending(gzipSync(`a ${key} b`), { "content-encoding": "gzip" }));
    expect(reply.text).toBe(`a ${hidden} b`);
  });

  test("in a stream, and the usage is still read", async () => {
    const sent = (secret: string) => `: ${secret}\n\n${completions.stream("\n")}`;
    const { reply, gateway } = await ask((_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return sendInPieces(response, sent(key), 9);
    });
    expect(reply.text).toBe(sent(hidden));
    expect(await gateway.settled()).toMatchObject({ usage: completions.usage, estimated: false });
  });
});

test("a configured header that a model provider repeats is masked only if it may be secret", async () => {
  const headers = {
    Authorization: "Basic dXNlcjpwYXNzd29yZA==",
    "X-Team": "dev",
    "Anthropic-Beta": "interleaved-thinking-2025-05-14",
  };
  const text = Object.values(headers).join(" and ");
  const { reply } = await ask(sending(text), { headers });
  expect(reply.text).toBe(text.replace("dXNlcjpwYXNzd29yZA==", "*".repeat(20)));
});

test("a model provider's response is unchanged if no model has a key, or the key is a common word", async () => {
  for (const none of [null, "", "the"]) {
    const { reply } = await ask(sending("the answer"), { key: none });
    expect(reply.text).toBe("the answer");
  }
});
