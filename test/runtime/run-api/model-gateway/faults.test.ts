import { cliHeader } from "../../../../src/foundation/contracts/model-gateway.ts";
import { Problem } from "../../../../src/foundation/errors.ts";
import { beginStream, emptyAnswer, post, sending, startGateway } from "./support.ts";
import { startProvider, startWire, testMeter, type TestGatewayOptions } from "./support.ts";
import { completions } from "./wires/openai.ts";

const silent = () => undefined;

test.each([
  [401, { "request-id": "1" }],
  [429, { "retry-after": "17", "x-ratelimit-remaining-tokens": "0", "retry-after-ms": "17000" }],
  [529, { "x-should-retry": "true", "anthropic-ratelimit-requests-reset": "2026-11-22T00:00Z" }],
])(
  "a model provider's error %i is forwarded with its retry headers, and costs nothing",
  async (status, headers) => {
    const text = '{"error":{"message":"no"}}';
    const answer = sending(text, { ...headers, "set-cookie": "a=b", server: "x" }, status);
    const { gateway, url } = await startWire(completions, answer);
    const reply = await post(url, completions.body);
    expect(reply).toMatchObject({ status, text, headers });
    expect(reply.headers).not.toHaveProperty("set-cookie");
    expect(reply.headers).not.toHaveProperty("server");
    expect(await gateway.settled()).toMatchObject({ status, usage: null, estimated: false });
    expect(gateway.problems).toEqual([]);
  },
);

test.each([
  [401, 400, "login expired"],
  [429, 429, "slow down"],
  [429, 400, "try again in 2h"],
])(
  "a model provider's error %i reaches a command line as %i if it says: %s",
  async (given, expected, message) => {
    const answer = sending(JSON.stringify({ error: { message } }), {}, given);
    const { gateway, url } = await startWire(completions, answer);
    const reply = await post(url, completions.body, { [cliHeader]: "1" });
    expect(reply.status).toBe(expected);
    expect(reply.text).toContain(message);
    await gateway.settled();
    await expect.poll(() => gateway.refused).toEqual([given]);
  },
);

test("a model provider's HTML page is forwarded and costs nothing", async () => {
  const text = "<!doctype html><title>Welcome</title>";
  const answer = sending(text, { "content-type": "text/html" });
  const { gateway, url } = await startWire(completions, answer);
  expect(await post(url, completions.body)).toMatchObject({ status: 200, text });
  expect(await gateway.settled()).toMatchObject({ usage: null, estimated: false });
});

test("a model provider's redirect is rejected with the name of its host only", async () => {
  const closed = Promise.withResolvers<string>();
  const { provider, url } = await startWire(completions, (_asked, response) => {
    response.once("close", () => closed.resolve("closed"));
    response.writeHead(307, { location: "https://elsewhere.example/v1?token=1" });
    response.write("the rest never comes");
  });
  const reply = await post(url, completions.body);
  expect(reply.status).toBe(502);
  expect(reply.headers["x-should-retry"]).toBe("false");
  expect(reply.headers).not.toHaveProperty("location");
  expect(reply.text).toContain("https://elsewhere.example,");
  expect(reply.text).not.toContain("token");
  expect(await closed.promise).toBe("closed");
  expect(provider.asked).toHaveLength(1);
});

test.each<[string, () => string | Promise<string>]>([
  ["has no server", () => "http://127.0.0.1:1"],
  ["has no TLS", async () => `https://${(await startProvider(silent)).host}`],
  [
    "closes the connection",
    async () => (await startProvider((_asked, response) => response.destroy())).origin,
  ],
])("a model provider that %s causes a 502, which clients may retry", async (_what, makeOrigin) => {
  const origin = await makeOrigin();
  const { host } = new URL(origin);
  const gateway = await startGateway({ model: { baseUrl: `${origin}/v1` } });
  const reply = await post(`${gateway.origin}/model/one/${host}/v1/chat/completions`, {});
  expect(reply.status).toBe(502);
  expect(reply.headers["x-should-retry"]).toBeUndefined();
  const error = { code: "upstream_unreachable", type: "server_error" };
  expect(JSON.parse(reply.text)).toMatchObject({ error });
  expect(await gateway.settled()).toMatchObject({ status: null, usage: null, estimated: false });
  const message = expect.stringContaining(`${host} cannot be reached: `) as string;
  expect(gateway.problems).toMatchObject([{ model: "one", error: { message } }]);
});

test.each<[string, TestGatewayOptions]>([
  ["the gateway's", { idleMs: 100 }],
  ["the model's own", { model: { timeoutSeconds: 0.1 } }],
])(
  "a model provider that stays silent beyond %s timeout causes a 504, and the estimated input is charged",
  async (_whose, options) => {
    const { gateway, url } = await startWire(completions, silent, options);
    expect((await post(url, completions.body)).status).toBe(504);
    const end = { status: null, estimated: true, isCut: false };
    expect(await gateway.settled()).toMatchObject(end);
  },
);

test("the model gateway repeats a call on a new connection if the provider closes a reused one", async () => {
  const { provider, gateway, url } = await startWire(completions, (_asked, response) => {
    if (provider.asked.length === 3) response.destroy();
    else response.end("{}");
  });
  await post(url, {});
  await post(url, {});
  expect(provider.connections()).toBe(1);
  expect((await post(url, {})).status).toBe(200);
  expect([provider.asked.length, provider.connections()]).toEqual([4, 2]);
  expect(gateway.meter.ends).toHaveLength(3);
});

test("closing the model gateway aborts open calls, and charges their input and streamed output", async () => {
  const { gateway, url } = await startWire(completions, (_asked, response) =>
    beginStream(response, "data: {}\n\n"),
  );
  const reply = await fetch(url, { method: "POST", body: JSON.stringify(completions.body) });
  await gateway.gateway.close();
  const cut = { status: 200, estimated: true, isCut: true, isHungUp: false };
  expect(gateway.meter.ends).toMatchObject([cut]);
  await expect(reply.text()).rejects.toThrow();
});

const cause = new Error("database or disk is full");
const full = new Problem("store_unavailable", "/project/.al/state.db: full", { cause });
test.each([
  [503, full, "can't store this call to a model now: database or disk is full"],
  [500, new Error("/project is broken"), "could not handle this call"],
])(
  "a model call that can't be stored is rejected with status %i, and may be retried",
  async (status, error, text) => {
    const meter = { ...testMeter(), begin: () => Promise.reject(error) };
    const { url, gateway } = await startWire(completions, emptyAnswer, { meter });
    const reply = await post(url, completions.body);
    expect(reply.status).toBe(status);
    expect(reply.headers).not.toHaveProperty("x-should-retry");
    expect(reply.text).toContain(text);
    expect(reply.text).not.toContain("/project");
    expect(gateway.problems[0]?.error.cause).toBe(error);
  },
);
