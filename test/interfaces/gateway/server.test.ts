import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { existsSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { createGateway } from "../../../src/interfaces/gateway/server.ts";
import { pause } from "../../helpers/pause.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { bearer, startTcp, testDeps } from "./start-gateway.ts";
import { listen } from "../../helpers/listen.ts";

test("the gateway serves the operator on a socket that only this user can open", async () => {
  const path = join(tempDir(), "operator.sock");
  const gateway = createGateway(testDeps());
  await gateway.listenUnix(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const answer = await getOverSocket(path, "/control/status");
  expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('"dev"') as unknown });
  await gateway.close();
  expect(existsSync(path)).toBe(false);
});

test("the gateway takes over the socket that a crash left behind", async () => {
  const path = join(tempDir(), "operator.sock");
  const crashed = createServer();
  await new Promise<void>((resolve) => crashed.listen(path, resolve));
  const gateway = createGateway(testDeps());
  onTestFinished(async () => {
    await gateway.close();
    crashed.close();
  });
  await gateway.listenUnix(path);
  expect(await getOverSocket(path, "/health")).toMatchObject({ status: 200 });
});

test("listenTcp rejects a port in use with a hint", async () => {
  const other = createServer();
  const port = await listen(other);
  onTestFinished(() => void other.close());
  await expect(createGateway(testDeps({ port })).listenTcp()).rejects.toMatchObject({
    name: "Problem",
    code: "port_in_use",
    message: `port ${port} is in use`,
    hint: "set another one with [gateway].port in config.toml or with --port",
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((ones) =>
  ones?.some(({ address }) => address === "::1"),
);

test.skipIf(!hasIpv6)(
  "the gateway listens on both loopback addresses, as browsers ask ::1 first",
  async () => {
    const { port } = new URL(await startTcp(testDeps()));
    expect((await fetch(`http://[::1]:${port}/health`)).status).toBe(200);
    const { port: other } = new URL(await startTcp(testDeps({ host: "::1" })));
    expect((await fetch(`http://127.0.0.1:${other}/health`)).status).toBe(200);
  },
);

test.skipIf(!hasIpv6)("listenTcp rejects a port that another program uses on ::1", async () => {
  const other = createServer();
  const port = await listen(other, 0, "::1");
  onTestFinished(() => void other.close());
  const message = `port ${port} is in use on [::1], which browsers ask first for localhost`;
  await expect(createGateway(testDeps({ port })).listenTcp()).rejects.toMatchObject({
    code: "port_in_use",
    message,
  });
  const again = createServer().listen(port, "127.0.0.1");
  await once(again, "listening");
  again.close();
});

test("listenTcp rejects an address of another machine with unknown_address", () =>
  expect(createGateway(testDeps({ host: "203.0.113.7" })).listenTcp()).rejects.toMatchObject({
    code: "unknown_address",
  }));

test("listenUnix rejects a socket path that is too long with socket_failed", async () => {
  const path = join(tempDir(), "x".repeat(120));
  await expect(createGateway(testDeps()).listenUnix(path)).rejects.toMatchObject({
    code: "socket_failed",
  });
});

test.each([
  [400, "malformed", "this is not HTTP\r\n\r\n"],
  [
    431,
    "headers_too_large",
    `GET /health HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
  ],
])("the gateway responds %i %s to an invalid request", async (status, error, text) => {
  const url = new URL(await startTcp(testDeps()));
  const answer = await rawClient(Number(url.port), text).answer;
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toContain("content-type: application/problem+json\r\n");
  const body = JSON.parse(answer.split("\r\n\r\n")[1] ?? "") as unknown;
  expect(body).toMatchObject({ type: "about:blank", status, error });
});

test("a request over a kept connection during the close is answered with a hint to retry", async () => {
  const deps = testDeps();
  const gateway = createGateway(deps);
  const url = await gateway.listenTcp();
  const { port } = new URL(url);
  let closed: Promise<void> | undefined;
  const authorization = `authorization: ${bearer.authorization}\r\n`;
  const first = `POST /control/pause HTTP/1.1\r\nhost: localhost\r\n${authorization}content-length: 0\r\n\r\n`;
  const second = `POST /webhooks/github HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`;
  const client = rawClient(Number(port), first);
  deps.operations.context.switches.setPaused = async () => {
    closed = gateway.close();
    client.socket.write(second);
    await pause(500, "the second request comes before the first is answered");
  };
  const answers = await client.answer;
  await closed;
  expect(answers).toMatch(/^HTTP\/1\.1 200 /);
  expect(answers).toMatch(/HTTP\/1\.1 503 [\s\S]*retry-after: 5\r\n[\s\S]*"error":"draining"/);
  expect(deps.operations.deliveries).toEqual([]);
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

/** A connection that sends these bytes, and all that comes back until the server closes it. */
function rawClient(port: number, text: string) {
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  const answer = new Promise<string>((resolve) => {
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
  return { socket, answer };
}

function getOverSocket(
  socketPath: string,
  path: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, headers: bearer }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

test("the gateway closes despite an idle connection", async () => {
  const gateway = createGateway(testDeps());
  const { port } = new URL(await gateway.listenTcp());
  const silent = connect(Number(port), "127.0.0.1");
  await once(silent, "connect");
  await Promise.all([gateway.close(), once(silent, "close")]);
}, 60_000);
