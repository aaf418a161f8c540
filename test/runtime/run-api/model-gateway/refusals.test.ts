import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { pause } from "../../../helpers/pause.ts";
import { emptyAnswer, post, startGateway, startProvider, startWire, testMeter } from "./support.ts";
import type { TestGatewayOptions } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import { wires } from "./wires/wires.ts";

const start = (options?: TestGatewayOptions) => startWire(completions, emptyAnswer, options);

const message = "the run's budget of $1.50 is spent";
const code = "budget_exceeded";
const ofOpenAi = { error: { message, type: "insufficient_quota", param: null, code } };
const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code };
const ofGoogle = { code: 403, message, status: "PERMISSION_DENIED", details: [reason] };

test.each([
  [anthropic, { type: "error", error: { type: "permission_error", message, code } }],
  [responses, ofOpenAi],
  [completions, ofOpenAi],
  [mistral, { object: "error", message, type: "invalid_request_error", param: null, code }],
  [google, { error: ofGoogle }],
])(
  "the model gateway rejects a call over budget in the provider's error format: $title",
  async (wire, body) => {
    const meter = testMeter({ granted: false, code, detail: message });
    const { provider, gateway, url } = await startWire(wire, emptyAnswer, { meter });
    const reply = await post(url, wire.body);
    expect(reply.status).toBe(403);
    const headers = { "x-should-retry": "false", "content-type": "application/json" };
    expect(reply.headers).toMatchObject(headers);
    expect(JSON.parse(reply.text)).toEqual(body);
    expect([provider.asked, gateway.problems]).toEqual([[], []]);
  },
);

test("the model gateway lets clients retry a call beyond a rate limit", async () => {
  const meter = testMeter({ granted: false, code: "rate_limited", detail: "60 a minute" });
  const { url } = await start({ meter });
  const reply = await post(url, completions.body);
  expect(reply.status).toBe(429);
  expect(reply.headers["x-should-retry"]).toBeUndefined();
});

test.each(wires)("the model gateway responds 404 to unknown paths: $title", async (wire) => {
  const { provider, base, url } = await startWire(wire, emptyAnswer);
  const others =
    "/v1/messages/batches /v1/files /responses/resp_1 /chat/completions/1 /models/model-1:batchGenerateContent";
  const own = [`${wire.path.split("?")[0]}/../files`, `/${wire.path}`, ""];
  for (const path of [...others.split(" "), ...own]) {
    const reply = await post(base + path, wire.body);
    expect([path, reply.status]).toEqual([path, 404]);
    expect(reply.headers["x-should-retry"]).toBe("false");
  }
  expect((await post(url, wire.body, {}, "PUT")).status).toBe(404);
  expect(provider.asked).toEqual([]);
});

test.each([
  ["example.com", 403],
  ["localhost@example.com", 403],
  ["%zz", 404],
])(
  "the model gateway rejects a call to %s, which is not the host of the model",
  async (host, status) => {
    const { gateway, provider } = await start();
    const reply = await post(`${gateway.origin}/model/one/${host}/v1/chat/completions`, {});
    expect(reply.status).toBe(status);
    expect(provider.asked).toEqual([]);
  },
);

test("the model gateway responds 404 to a model that the agent lacks", async () => {
  const { origin } = await startGateway();
  const url = `${origin}/model/missing/api.anthropic.com/v1/messages`;
  const reply = await post(url, anthropic.body);
  expect(reply.status).toBe(404);
  const error = { type: "not_found_error", message: 'the agent has no model "missing"' };
  expect(JSON.parse(reply.text)).toMatchObject({ type: "error", error });
});

test("the URL of a model call may contain the encoded model name and host", async () => {
  const { gateway, provider } = await start();
  const host = encodeURIComponent(provider.host);
  await post(`${gateway.origin}/model/my%20model%2F1/${host}/v1/chat/completions`, {});
  expect(gateway.meter.plans[0]?.model).toBe("my model/1");
});

test("the URL of a call to Gemini gets the configured model, and alt=sse is required for a stream", async () => {
  const { provider, base } = await startWire(google, emptyAnswer);
  await post(`${base}/models/dearest:generateContent?$alt=x&key=1`, google.plainBody);
  expect(provider.asked[0]?.url).toBe("/v1beta/models/model-1:generateContent");
  const reply = await post(`${base}/models/model-1:streamGenerateContent`, google.body);
  expect(reply.status).toBe(404);
});

test("the URL of a model call keeps the query of the base URL", async () => {
  const provider = await startProvider(emptyAnswer);
  const { origin } = await startGateway({
    model: { baseUrl: `${provider.origin}/v1?api-version=7` },
  });
  await post(`${origin}/model/one/${provider.host}/v1/chat/completions?x=1`, {});
  expect(provider.asked[0]?.url).toBe("/v1/chat/completions?api-version=7");
});

test.each([
  [anthropic, "/v1/messages/count_tokens?beta=true"],
  [google, "/models/model-1:countTokens"],
])("a model API call that only counts tokens is not charged: $title", async (wire, path) => {
  const { provider, gateway, base } = await startWire(wire, emptyAnswer);
  expect((await post(base + path, wire.plainBody)).status).toBe(200);
  expect(provider.asked[0]?.url).toBe(wire.basePath + path);
  expect(gateway.meter.plans).toEqual([]);
});

describe("the body of a model call", () => {
  test.each(["[", "null"])("is rejected if it is not a JSON object: %s", async (text) => {
    const { gateway, url } = await start();
    expect((await post(url, text)).status).toBe(400);
    expect(gateway.meter.plans).toEqual([]);
  });

  test("is serialized again after parsing, without repeated or escaped fields", async () => {
    const { provider, url } = await start();
    await post(url, '{"model":"dearest","m\\u0061x_tokens":5,"max_tokens":7,"\\u006e":1,"n":null}');
    expect(provider.asked[0]?.text).toBe('{"model":"model-1","max_tokens":7,"n":null}');
    expect((await post(url, '{"n":1,"\\u006e":5}')).status).toBe(403);
  });

  test("is rejected with 415 if it is compressed", async () => {
    const { url } = await start();
    const headers = { "content-encoding": "zstd" };
    expect((await post(url, completions.body, headers)).status).toBe(415);
  });

  test("is aborted if it stalls, which frees memory for others", async () => {
    const { url } = await start({ runBytes: 2_000_000, totalBytes: 2_000_000, silentMs: 200 });
    const stalled = Array.from({ length: 8 }, () => {
      const headers = { "content-length": "700000" };
      const request = httpRequest(url, { method: "POST", headers });
      request.write("{");
      return once(request, "error");
    });
    const body = { messages: [{ role: "user", content: "x".repeat(700_000) }] };
    expect((await post(url, body)).status).toBe(200);
    await Promise.all(stalled);
  });

  test("may wait for free memory longer than the timeout for sending it", async () => {
    const options = { runBytes: 5_000_000, timeoutMs: 3_000, silentMs: 2_000 };
    const { url } = await startWire(
      completions,
      async (_asked, response) => {
        await pause(4_000, "the second body waits longer than both limits");
        response.end("{}");
      },
      options,
    );
    const body = { messages: [{ role: "user", content: "x".repeat(2_000_000) }] };
    const replies = await Promise.all([post(url, body), post(url, body)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  });
});
