import { gzipSync } from "node:zlib";
import type { UpstreamModel } from "../../../../src/foundation/contracts/model-gateway.ts";
import { post, sendInPieces, startWire, type Answer } from "./support.ts";
import { completions } from "./wires/openai.ts";

const key = "sk-proj-s-sk-proj-4711";
const hidden = "*".repeat(key.length);

/** Asks a provider that repeats what it was sent. */
async function ask(answer: Answer, model: Partial<UpstreamModel> = {}) {
  const { gateway, url } = await startWire(completions, answer, { model: { key, ...model } });
  return { gateway, reply: await post(url, completions.body) };
}

describe("a key that a provider repeats", () => {
  test.each(Array.from({ length: key.length + 1 }, (_, n) => n + 1))(
    "is masked in a body that comes in pieces of %i bytes",
    async (pieceBytes) => {
      const text = `${key} sk-proj-sk-proj-${key}${key}, not sk-proj-s-sk nor ${key.slice(0, -1)}`;
      const { reply } = await ask((_asked, response) => sendInPieces(response, text, pieceBytes));
      expect(reply.text).toBe(text.replaceAll(key, hidden));
      expect(reply.isWhole).toBe(true);
    },
  );

  test("is masked in an error, whose announced length stays", async () => {
    const error = { error: { message: `Incorrect API key provided: ${key}.`, code: "x" } };
    const { reply } = await ask((_asked, response) => {
      const body = JSON.stringify(error);
      response.writeHead(401, {
        "content-type": "application/json",
        "content-length": body.length,
      });
      response.end(body);
    });
    expect(reply).toMatchObject({ status: 401, isWhole: true });
    expect(reply.text).toContain(`provided: ${hidden}.`);
  });

  test("is masked in headers, and in the target of a redirect", async () => {
    const { reply } = await ask((_asked, response) => {
      const named = { [`x-ratelimit-${key}`]: "1", "request-id": `req-${key}` };
      response.writeHead(200, { ...named, "content-type": `text/event-stream; a=${key}` }).end();
    });
    expect(reply.headers["request-id"]).toBe(`req-${hidden}`);
    expect(JSON.stringify(reply.headers)).not.toContain(key);
    const redirected = await ask((_asked, response) => {
      response.writeHead(307, { location: `https://${key}.example/` }).end();
    });
    expect(redirected.reply.status).toBe(502);
    expect(redirected.reply.text).not.toContain(key);
  });

  test("is masked in a compressed answer", async () => {
    const { reply } = await ask((_asked, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(`a ${key} b`));
    });
    expect(reply.text).toBe(`a ${hidden} b`);
  });

  test("is masked in a stream, whose usage is still read", async () => {
    const { reply, gateway } = await ask((_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: ${key.slice(0, 9)}`);
      setTimeout(() => response.end(`${key.slice(9)}\n\n${completions.stream("\n")}`), 20);
    });
    expect(reply.text).toBe(`: ${hidden}\n\n${completions.stream("\n")}`);
    expect(await gateway.settled()).toMatchObject({ usage: completions.usage, estimated: false });
  });
});

const headers = {
  Authorization: "Basic dXNlcjpwYXNzd29yZA==",
  "X-Team": "dev",
  "Anthropic-Beta": "interleaved-thinking-2025-05-14",
};

test("headers of the config that a provider repeats are masked if they may be secret, and others are not", async () => {
  const text = Object.values(headers).join(" and ");
  const { reply } = await ask((_asked, response) => response.end(text), { headers });
  expect(reply.text).toBe(text.replace("dXNlcjpwYXNzd29yZA==", "*".repeat(20)));
});

test("an answer is unchanged if no model has a key, or the key is a common word", async () => {
  for (const none of [null, "", "a", "the"]) {
    const { reply } = await ask((_asked, response) => response.end("the answer"), { key: none });
    expect(reply.text).toBe("the answer");
  }
});
