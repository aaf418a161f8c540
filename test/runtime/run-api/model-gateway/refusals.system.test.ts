import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { emptyAnswer, post, startGateway, startProvider, startWire, testMeter } from "./support.ts";
import type { Answer, TestGatewayOptions } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";
import { wires } from "./wires/wires.ts";

async function start(wire: Wire, options: TestGatewayOptions = {}) {
  const { provider, gateway, base } = await startWire(wire, emptyAnswer, options);
  return { provider, gateway, url: base };
}

const detail = "the run's budget of $1.50 is spent";
const bodies: readonly (readonly [Wire, object])[] = [
  [
    anthropic,
    {
      type: "error",
      error: { type: "permission_error", message: detail, code: "budget_exceeded" },
    },
  ],
  [
    responses,
    {
      error: { message: detail, type: "insufficient_quota", param: null, code: "budget_exceeded" },
    },
  ],
  [
    completions,
    {
      error: { message: detail, type: "insufficient_quota", param: null, code: "budget_exceeded" },
    },
  ],
  [
    mistral,
    {
      object: "error",
      message: detail,
      type: "invalid_request_error",
      param: null,
      code: "budget_exceeded",
    },
  ],
  [
    google,
    {
      error: {
        code: 403,
        message: detail,
        status: "PERMISSION_DENIED",
        details: [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "budget_exceeded" },
        ],
      },
    },
  ],
];

test.each(bodies)("a refused call has the provider's own error format: %$", async (wire, body) => {
  const meter = testMeter({ granted: false, code: "budget_exceeded", detail });
  const { provider, gateway, url } = await start(wire, { meter });
  const reply = await post(url + wire.path, wire.body);
  expect(reply.status).toBe(403);
  expect(reply.headers).toMatchObject({
    "x-should-retry": "false",
    "content-type": "application/json",
  });
  expect(JSON.parse(reply.text)).toEqual(body);
  expect(provider.asked).toEqual([]);
  expect(gateway.problems).toEqual([]);
});

test("a refused call may be retried if only its rate is too high", async () => {
  const meter = testMeter({ granted: false, code: "rate_limited", detail: "60 a minute" });
  const { url } = await start(completions, { meter });
  const reply = await post(url + completions.path, completions.body);
  expect(reply.status).toBe(429);
  expect(reply.headers["x-should-retry"]).toBeUndefined();
});

test("a refused call gets a passing error if it can't be recorded", async () => {
  const begin = () => Promise.reject(new Error("disk full"));
  const { gateway, url } = await start(anthropic, { meter: { ...testMeter(), begin } });
  const reply = await post(url + anthropic.path, anthropic.body);
  expect(reply.status).toBe(500);
  expect(reply.headers["x-should-retry"]).toBeUndefined();
  expect(reply.text).not.toContain("disk full");
  expect(gateway.problems[0]?.error.cause).toEqual(new Error("disk full"));
});

test.each(wires)(
  "the address of a call of $title accepts only the paths of its clients",
  async (wire) => {
    const { provider, url } = await start(wire);
    const others = [
      "/v1/messages/batches",
      "/v1/files",
      "/embeddings",
      "/models",
      "/responses/resp_1",
      "/models/model-1:batchGenerateContent",
      "/files",
      "/chat/completions/1",
      "",
      "/",
      `${wire.path.split("?")[0] ?? ""}/../files`,
      `/${wire.path}`,
    ];
    for (const path of others) {
      const reply = await post(url + path, wire.body);
      expect([path, reply.status]).toEqual([path, 404]);
      expect(reply.headers["x-should-retry"]).toBe("false");
    }
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      expect((await post(url + wire.path, wire.body, {}, method)).status).toBe(404);
    }
    expect(provider.asked).toEqual([]);
  },
);

test.each(["example.com", "127.0.0.1:1", "127.0.0.1", "localhost@example.com", "%zz"])(
  "the address of a call has the host of the model's API, not %s",
  async (host) => {
    const { gateway, provider } = await start(anthropic);
    const reply = await post(`${gateway.origin}/model/one/${host}/v1/messages`, anthropic.body);
    expect([403, 404]).toContain(reply.status);
    expect(provider.asked).toEqual([]);
  },
);

test("the address of a call names a model of the agent", async () => {
  const { gateway } = await start(anthropic);
  const url = `${gateway.origin}/model/missing/api.anthropic.com/v1/messages`;
  const reply = await post(url, anthropic.body);
  expect(reply.status).toBe(404);
  expect(JSON.parse(reply.text)).toMatchObject({
    type: "error",
    error: { type: "not_found_error", message: 'the agent has no model "missing"' },
  });
});

test("the address of a call may have the model's name and the host encoded", async () => {
  const { gateway, provider } = await start(anthropic);
  const host = encodeURIComponent(provider.host);
  const url = `${gateway.origin}/model/my%20model%2F1/${host}/v1/messages`;
  expect((await post(url, anthropic.body)).status).toBe(200);
  expect(gateway.meter.plans[0]?.model).toBe("my model/1");
});

test("the address of a call of Gemini gets the model of the config, whatever it says", async () => {
  const { provider, url } = await start(google);
  await post(`${url}/models/dearest:generateContent?$alt=x&key=1`, google.plainBody);
  expect(provider.asked[0]?.url).toBe("/v1beta/models/model-1:generateContent");
});

test("the address of a call of a Gemini stream requests events", async () => {
  const { url } = await start(google);
  const reply = await post(`${url}/models/model-1:streamGenerateContent`, google.body);
  expect(reply.status).toBe(404);
});

test("the address of a call keeps the query of the base URL", async () => {
  const provider = await startProvider(emptyAnswer);
  const baseUrl = `${provider.origin}/v1?api-version=7`;
  const { origin } = await startGateway({ model: { baseUrl } });
  await post(`${origin}/model/one/${provider.host}/v1/chat/completions?x=1`, completions.body);
  expect(provider.asked[0]?.url).toBe("/v1/chat/completions?api-version=7");
});

test.each([
  [anthropic, "/v1/messages/count_tokens?beta=true"],
  [google, "/models/model-1:countTokens"],
])("the address of a call that counts tokens is not metered: %$", async (wire, path) => {
  const { provider, gateway, url } = await start(wire);
  expect((await post(url + path, wire.plainBody)).status).toBe(200);
  expect(provider.asked[0]?.url).toBe(wire.basePath + path);
  expect(gateway.meter.plans).toEqual([]);
});

test.each(["[", "[]", "null", '"text"', ""])(
  "a body that is not a JSON object is rejected: %s",
  async (text) => {
    const { gateway, url } = await start(completions);
    const reply = await post(url + completions.path, text);
    expect(reply.status).toBe(400);
    expect(gateway.meter.plans).toEqual([]);
  },
);

test("a body is sent as it was checked, not with a field twice", async () => {
  const { provider, url } = await start(anthropic);
  const text = '{"model":"dearest","model":"cheap","max_tokens":1,"max_tokens":5}';
  await post(url + anthropic.path, text);
  expect(provider.asked[0]?.text).toBe('{"model":"model-1","max_tokens":5}');
});

test("a body over the limit, or without a length, is rejected", async () => {
  const { gateway, url } = await start(completions, { maxBytes: 1000 });
  const text = JSON.stringify({ text: "x".repeat(300_000) });
  expect((await post(url + completions.path, text)).status).toBe(413);
  const chunked = { "transfer-encoding": "chunked" };
  expect((await post(url + completions.path, "{}", chunked)).status).toBe(411);
  expect(gateway.meter.plans).toEqual([]);
});

test("a body must not be compressed", async () => {
  const { url } = await start(completions);
  const headers = { "content-encoding": "zstd" };
  expect((await post(url + completions.path, completions.body, headers)).status).toBe(415);
});

test("a body that stalls is cut, and its place serves others", async () => {
  const limits = { runBytes: 2_000_000, totalBytes: 2_000_000, silentMs: 200 };
  const { url } = await start(completions, limits);
  const stalled = Array.from({ length: 8 }, () => {
    const headers = { "content-length": "700000" };
    const request = httpRequest(url + completions.path, { method: "POST", headers });
    request.write("{");
    return once(request, "error");
  });
  const body = { messages: [{ role: "user", content: "x".repeat(700_000) }] };
  expect((await post(url + completions.path, body)).status).toBe(200);
  await Promise.all(stalled);
});

test("a body that is large may wait longer for its place than a client may take to send one", async () => {
  const options = { runBytes: 5_000_000, timeoutMs: 500, silentMs: 200 };
  const late: Answer = (_asked, response) => void setTimeout(() => response.end("{}"), 1_500);
  const { url } = await startWire(completions, late, options);
  const body = { messages: [{ role: "user", content: "x".repeat(2_000_000) }] };
  const replies = await Promise.all([post(url, body), post(url, body)]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
});

test("a body of 20 MiB passes, and too many large ones pass one after the other", async () => {
  const { provider, url } = await start(completions);
  const body = { messages: [{ role: "user", content: "x".repeat(20 * 1024 * 1024) }] };
  const asks = Array.from({ length: 5 }, () => post(url + completions.path, body));
  const replies = await Promise.all(asks);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(provider.asked).toHaveLength(5);
}, 60_000);
