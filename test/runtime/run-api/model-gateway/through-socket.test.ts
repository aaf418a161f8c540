import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { openBridge, type Bridge } from "../../../../src/runtime/harness/bridge/bridge.ts";
import { hostModels, type HostedModel } from "../../harness/model-host.ts";
import { openSocket, socketSide, type SocketOfRun, type SocketSide } from "../support.ts";
import { post, startProvider, type Provider, type Reply } from "./support.ts";
import { completions } from "./wires/openai.ts";

let side: SocketSide;
let run: SocketOfRun;
let bridge: Bridge;
let provider: Provider;

const opened = (runSocket: Pick<SocketOfRun, "socket" | "token">) =>
  openBridge({ runSocket, onInterrupted: () => undefined });

beforeEach(async () => {
  side = await socketSide();
  provider = await startProvider((_asked, response) => response.end("{}"));
  run = await openSocket(side, "dev-1");
  hostModels("dev-1", [hosted("one")], null);
  bridge = await opened(run);
});
afterEach(async () => {
  await bridge[Symbol.asyncDispose]();
  await side.remove();
});

function hosted(name: string): HostedModel {
  return {
    name,
    provider: "custom",
    model: "model-1",
    api: "openai-completions",
    baseUrl: `${provider.origin}/v1`,
    authType: "api_key",
    key: "real-key",
    headers: {},
    script: null,
    thinkingLevel: null,
    contextWindow: null,
    maxTokens: null,
    input: null,
    timeoutSeconds: null,
    maxRetries: null,
    price: null,
  };
}

/** Asks by a bridge, as a client inside of a run does. */
function ask(body: unknown, { name = "one", headers = {}, by = bridge } = {}): Promise<Reply> {
  const url = by.baseUrl({ name }, `${provider.origin}/v1`);
  const authorization = `Bearer ${by.key}`;
  return post(`${url}/chat/completions`, body, { authorization, ...headers });
}

const mebibyte = 1024 * 1024;
const large = { messages: [{ role: "user", content: "x".repeat(20 * mebibyte) }] };

test("a request by bridge, run socket and gateway with another run's token is rejected at any size, without forwarding", async () => {
  const other = await openSocket(side, "dev-2");
  await using forged = await opened({ socket: run.socket, token: other.token });
  for (const body of [completions.body, large]) {
    const reply = await ask(body, { by: forged });
    expect(reply.status).toBe(401);
    expect(reply.text).toContain("This is not the token of the run whose socket this is.");
  }
  expect(provider.asked).toEqual([]);
});

test("a request by bridge, run socket and gateway for a model of another agent's run is rejected", async () => {
  const other = await openSocket(side, "dev-2");
  hostModels("dev-2", [hosted("two")], null);
  await using second = await opened(other);
  expect((await ask(completions.body, { name: "two", by: second })).status).toBe(200);
  for (const name of ["two", "ONE", "one%00", "../two", "one/../two", "__proto__", ""]) {
    const reply = await ask(completions.body, { name });
    expect([name, reply.status]).toEqual([name, 404]);
  }
  expect(provider.asked).toHaveLength(1);
});

test("a request by bridge, run socket and gateway brings the provider no key, cookie, length or encoding of the client", async () => {
  const headers = {
    cookie: "session=1",
    "x-api-key": "mine",
    "x-goog-api-key": "mine",
    forwarded: "for=1",
    "x-forwarded-host": "evil.example",
    host: "evil.example",
    "x-http-method-override": "PUT",
    "accept-encoding": "gzip",
    "proxy-authorization": "Basic x",
    te: "trailers",
  };
  expect((await ask(completions.body, { headers })).status).toBe(200);
  expect(provider.asked[0]?.headers).toEqual({
    authorization: "Bearer real-key",
    "content-type": "application/json",
    "content-length": String(provider.asked[0]?.text.length),
    "accept-encoding": "identity",
    host: provider.host,
    connection: "keep-alive",
  });
});

test("a request by bridge, run socket and gateway with headers beyond the limit is rejected at once, and the next one is answered", async () => {
  const huge = await ask(completions.body, { headers: { "x-large": "x".repeat(12_000) } });
  expect(huge.status).toBe(431);
  expect((await ask(completions.body)).status).toBe(200);
});

test("a request by bridge, run socket and gateway may escape the names of its fields, and each field counts once", async () => {
  const body = `{"messages":[],"m\\u0061x_tokens":5,"max_tokens":7,"\\u006e":1,"n":null}`;
  expect((await ask(body)).status).toBe(200);
  expect(provider.asked[0]?.json).toEqual({
    messages: [],
    max_tokens: 7,
    n: null,
    model: "model-1",
  });
  const hidden = `{"messages":[],"n":1,"\\u006e":5}`;
  expect((await ask(hidden)).status).toBe(403);
});

const head = (line: string, ...headers: readonly string[]) =>
  [line, "host: x", `authorization: Bearer ${run.token}`, ...headers, "", ""].join("\r\n");
const body = JSON.stringify(completions.body);
const path = () => `/model/one/${provider.host}/v1/chat/completions`;

async function answersTo(bytes: string): Promise<readonly string[]> {
  const client = connect(run.socket);
  await once(client, "connect");
  client.on("error", () => undefined);
  client.write(bytes);
  setTimeout(() => client.end(), 200);
  const received = await text(client);
  return [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = ""]) => status);
}

test.each([
  ["both lengths", ["transfer-encoding: chunked", "content-length: 4"], "0\r\n\r\n"],
  ["two lengths", ["content-length: 4", "content-length: 400"], body],
  ["a length that is none", ["content-length: -1"], body],
  ["an encoding that is not chunked", ["transfer-encoding: gzip"], body],
  ["a hidden encoding", ["transfer-encoding : chunked"], "0\r\n\r\n"],
  ["a line that continues", ["x-a: 1", " content-length: 5"], body],
  ["a bare line feed", ["x-a: 1\ntransfer-encoding: chunked"], "0\r\n\r\n"],
])(
  "raw bytes on the run socket with %s are one request that is rejected",
  async (_name, headers, sent) => {
    const second = head(`POST ${path()} HTTP/1.1`, "content-length: 2");
    const statuses = await answersTo(
      `${head(`POST ${path()} HTTP/1.1`, ...headers)}${sent}${second}{}`,
    );
    expect(statuses).toEqual(["400"]);
    expect(provider.asked).toEqual([]);
  },
);

test.each([
  ["an absolute address", () => `POST http://${provider.host}/v1/chat/completions HTTP/1.1`],
  ["an absolute address of the run API", () => `POST http://x${path()} HTTP/1.1`],
  ["two slashes", () => `POST /${path()} HTTP/1.1`],
  ["an encoded slash", () => `POST ${path().replace("/chat", "%2fchat")} HTTP/1.1`],
  ["dots", () => `POST ${path().replace("/chat", "/x/../chat")} HTTP/1.1`],
  ["encoded dots", () => `POST ${path().replace("/chat", "/x/%2e%2e/chat")} HTTP/1.1`],
  ["a fragment", () => `POST ${path()}#/v1/messages HTTP/1.1`],
  ["a user in the host", () => `POST ${path().replace("one/", "one/a@")} HTTP/1.1`],
  ["a tunnel", () => `CONNECT ${provider.host} HTTP/1.1`],
  ["GET", () => `GET ${path()} HTTP/1.1`],
  ["a list of batches", () => `POST ${path().replace("chat/completions", "batches")} HTTP/1.1`],
])("raw bytes on the run socket with %s never reach the provider", async (_name, line) => {
  const statuses = await answersTo(head(line(), `content-length: ${body.length}`) + body);
  expect(statuses.every((status) => status.startsWith("4"))).toBe(true);
  expect(provider.asked).toEqual([]);
});

test("raw bytes on the run socket over 32 MiB, or without a length, are not read", async () => {
  const line = `POST ${path()} HTTP/1.1`;
  const announced = head(line, `content-length: ${33 * mebibyte}`);
  expect(await answersTo(`${announced}{`)).toEqual(["413"]);
  const chunked = head(line, "transfer-encoding: chunked");
  expect(await answersTo(`${chunked}2\r\n{}\r\n0\r\n\r\n`)).toEqual(["411"]);
  expect(provider.asked).toEqual([]);
});
