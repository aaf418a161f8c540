import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { UserError } from "../../../../src/foundation/errors.ts";
import { emptyAnswer, post, startGateway, startProvider, startWire, testMeter } from "./support.ts";
import type { Answer, TestGatewayOptions } from "./support.ts";
import { completions } from "./wires/openai.ts";

const start = (answer: Answer, options?: TestGatewayOptions) =>
  startWire(completions, answer, options);

test.each([
  [401, { "x-request-id": "1" }],
  [429, { "retry-after": "17", "x-ratelimit-remaining-tokens": "0", "retry-after-ms": "17000" }],
  [500, { "x-should-retry": "true" }],
  [529, { "request-id": "req_1", "anthropic-ratelimit-requests-reset": "2026-11-22T00:00:00Z" }],
])(
  "a provider's answer of status %i passes with its retry headers, and costs nothing",
  async (status, headers) => {
    const text = '{"error":{"message":"no"}}';
    const { gateway, url } = await start((_asked, response) => {
      response.writeHead(status, {
        ...headers,
        "content-type": "application/json",
        "set-cookie": "a=b",
        server: "x",
        via: "y",
      });
      response.end(text);
    });
    const reply = await post(url, completions.body);
    expect(reply).toMatchObject({ status, text, headers });
    for (const name of ["set-cookie", "server", "via"])
      expect(reply.headers).not.toHaveProperty(name);
    expect(await gateway.settled()).toMatchObject({ status, usage: null, estimated: false });
    expect(gateway.problems).toEqual([]);
  },
);

test.each([200, 502])(
  "a provider's answer that is a page of HTML passes with status %i and costs nothing",
  async (status) => {
    const page = "<!doctype html><title>Bad gateway</title>";
    const { gateway, url } = await start((_asked, response) => {
      response.writeHead(status, { "content-type": "text/html" });
      response.end(page);
    });
    expect(await post(url, completions.body)).toMatchObject({ status, text: page });
    expect(await gateway.settled()).toMatchObject({ status, usage: null, estimated: false });
  },
);

test("a provider's answer that redirects is not followed, and its target is hidden", async () => {
  const { provider, url } = await start((_asked, response) => {
    response.writeHead(307, { location: "https://elsewhere.example/v1?token=1" });
    response.end();
  });
  const reply = await post(url, completions.body);
  expect(reply.status).toBe(502);
  expect(reply.headers["x-should-retry"]).toBe("false");
  expect(reply.headers).not.toHaveProperty("location");
  expect(reply.text).toContain("https://elsewhere.example,");
  expect(reply.text).not.toContain("token");
  expect(provider.asked).toHaveLength(1);
});

test.each([
  ["redirects", 307, { location: "https://elsewhere.example/" }],
  ["is compressed in an unknown way", 200, { "content-encoding": "dcb" }],
])("a provider's answer that %s is closed unread", async (_name, status, headers) => {
  const closed = Promise.withResolvers<string>();
  const { url } = await start((_asked, response) => {
    response.once("close", () => closed.resolve("closed"));
    response.writeHead(status, headers);
    response.write("the rest never comes");
  });
  expect((await post(url, completions.body)).status).toBe(502);
  expect(await closed.promise).toBe("closed");
});

test("a provider without an answer looks to the client like an overloaded one, which it retries", async () => {
  const { origin, settled, problems } = await startGateway();
  const reply = await post(`${origin}/model/one/127.0.0.1:1/v1/chat/completions`, {});
  expect(reply.status).toBe(502);
  expect(reply.headers["x-should-retry"]).toBeUndefined();
  expect(JSON.parse(reply.text)).toMatchObject({
    error: { code: "upstream_unreachable", type: "server_error" },
  });
  expect(await settled()).toMatchObject({ status: null, usage: null, estimated: false });
  expect(problems.map(({ model, error }) => `${model}: ${error.message}`)).toEqual([
    "one: 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1",
  ]);
});

test("a provider without an answer has no TLS, or no such name", async () => {
  const { host } = await startProvider(() => undefined);
  for (const there of [host, "no-such-host.invalid"]) {
    const { origin } = await startGateway({ model: { baseUrl: `https://${there}/v1` } });
    const reply = await post(`${origin}/model/one/${there}/v1/chat/completions`, {});
    expect(reply.status).toBe(502);
  }
});

test("a provider without an answer closes the connection", async () => {
  const { gateway, url } = await start((_asked, response) => response.destroy());
  expect((await post(url, completions.body)).status).toBe(502);
  expect(await gateway.settled()).toMatchObject({ status: null, usage: null });
});

test("a provider without an answer does not speak HTTP", async () => {
  const server = createTcpServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { origin } = await startGateway({ model: { baseUrl: `http://${host}/v1` } });
  expect((await post(`${origin}/model/one/${host}/v1/chat/completions`, {})).status).toBe(502);
});

test("a provider without an answer that stays silent gives a 504, and the input is charged as an estimate", async () => {
  const { gateway, url } = await start(() => undefined, { idleMs: 100 });
  const reply = await post(url, completions.body);
  expect(reply.status).toBe(504);
  expect(await gateway.settled()).toMatchObject({ status: null, estimated: true });
});

test("a provider without an answer is cut after the model's own timeout", async () => {
  const { gateway, url } = await start(() => undefined, { model: { timeoutSeconds: 0.1 } });
  expect((await post(url, completions.body)).status).toBe(504);
  expect(await gateway.settled()).toMatchObject({ estimated: true, isCut: false });
});

test("a provider without an answer that becomes silent during a stream is cut", async () => {
  const { gateway, url } = await start((_asked, response) => void response.write("data: {}\n\n"), {
    idleMs: 100,
  });
  expect(await post(url, completions.body)).toMatchObject({ status: 200, isWhole: false });
  const end = { status: 200, estimated: true, isCut: false };
  expect(await gateway.settled()).toMatchObject(end);
});

test("a provider without an answer that closed a reused connection is called again on a new one", async () => {
  const { provider, url } = await start(emptyAnswer);
  await post(url, {});
  await post(url, {});
  expect(provider.connections()).toBe(1);
  const broken = createServer();
  let served = 0;
  broken.on("request", (request: IncomingMessage, response) => {
    request.resume();
    served += 1;
    // The second request of a connection meets one that is about to be closed.
    if (served === 2) request.socket.destroy();
    else response.end("{}");
  });
  broken.listen(0, "127.0.0.1");
  await once(broken, "listening");
  onTestFinished(() => broken.close().closeAllConnections());
  const host = `127.0.0.1:${(broken.address() as AddressInfo).port}`;
  const { origin, meter } = await startGateway({ model: { baseUrl: `http://${host}/v1` } });
  const there = `${origin}/model/one/${host}/v1/chat/completions`;
  expect((await post(there, {})).status).toBe(200);
  expect((await post(there, {})).status).toBe(200);
  expect(served).toBe(3);
  expect(meter.ends).toHaveLength(2);
});

test("a gateway that closes cuts open calls, and charges their requests and the streamed parts of their answers", async () => {
  const { provider, gateway, url } = await start((_asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: {}\n\n");
  });
  const reply = post(url, completions.body);
  await expect.poll(() => provider.asked.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await gateway.gateway.close();
  const cut = { status: 200, estimated: true, isCut: true, isHungUp: false };
  expect(gateway.meter.ends).toMatchObject([cut]);
  expect(await reply).toMatchObject({ isWhole: false });
});

test("a call that can't be stored is rejected with a reason to retry", async () => {
  const cause = new Error("database or disk is full");
  const full = new UserError("store_unavailable", "/project/.al/state.db: full", { cause });
  const meter = { ...testMeter(), begin: () => Promise.reject(full) };
  const { url, gateway } = await start(emptyAnswer, { meter });
  const reply = await post(url, completions.body);
  expect(reply).toMatchObject({ status: 503 });
  expect(reply.text).toContain("database or disk is full");
  expect(reply.text).not.toContain("/project");
  expect(reply.headers).not.toHaveProperty("x-should-retry");
  expect(gateway.problems).toHaveLength(1);
});
