import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { createSendRequest } from "../../../src/foundation/contracts/outgoing-request.ts";
import type { OutgoingRequest } from "../../../src/foundation/contracts/outgoing-request.ts";
import { testCertificate } from "../../helpers/certificate.ts";
import { forwardProxy } from "../../helpers/forward-proxy.ts";
import { listen } from "../../helpers/listen.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The server's port on this machine. */
async function listening(server: Server | TcpServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  const port = await listen(server);
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return port;
}

function get(port: number, path = "/"): OutgoingRequest {
  const url = new URL(`http://127.0.0.1:${port}${path}`);
  return { method: "GET", url, headers: {}, body: null };
}

const direct = createSendRequest({ proxyEnv: {} });
const hasty = createSendRequest({ proxyEnv: {}, timeoutMs: 300 });

const serve = (listener: RequestListener) => listening(createServer(listener));

test("an outgoing request sends method, headers and body, and returns status, headers and text", async () => {
  const port = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      response.writeHead(202, { "retry-after": "7" });
      const { method, url, headers } = request;
      response.end(JSON.stringify([method, url, headers["x-one"], body]));
    });
  });
  const request = { ...get(port, "/a?b=c"), method: "POST", headers: { "x-one": "1" } } as const;
  const answer = await direct({ ...request, body: "größer" });
  expect(answer.status).toBe(202);
  expect(answer.headers["retry-after"]).toBe("7");
  expect(JSON.parse(answer.text)).toEqual(["POST", "/a?b=c", "1", "größer"]);
});

test("an outgoing request reads 64 KiB of the response at most, then closes the connection", async () => {
  let closed: Promise<unknown> = Promise.resolve();
  const port = await serve((_request, response) => {
    closed = new Promise((resolve) => response.once("close", resolve));
    const chunk = "x".repeat(10_000);
    const more = (): unknown => response.destroyed || (response.write(chunk), setImmediate(more));
    more();
  });
  const { text } = await direct(get(port));
  expect(text).toBe("x".repeat(64 * 1024));
  await closed;
});

test.each([
  ["body arrives byte by byte", "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n", "."],
  ["body has no length and never ends", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", "."],
  ["headers never end", "HTTP/1.1 200 OK\r\n", "x: y\r\n"],
  ["server does not respond", "", ""],
])("an outgoing request times out if the %s", async (_how, begin, more) => {
  const server = createTcpServer((socket) => {
    socket
      .on("error", () => undefined)
      .resume()
      .write(begin);
    const timer = setInterval(() => socket.write(more), 20);
    socket.once("close", () => clearInterval(timer));
  });
  const port = await listening(server);
  await expect(hasty(get(port))).rejects.toThrow("no whole answer within 0.3 s");
});

test("an outgoing request fails if the response ends early", async () => {
  const port = await serve((_request, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("half", () => response.destroy());
  });
  await expect(direct(get(port))).rejects.toThrow();
});

test("an outgoing request fails with the reason when no server listens", async () => {
  const port = await serve(() => undefined);
  await closers.pop()?.();
  await expect(direct(get(port))).rejects.toThrow("ECONNREFUSED");
});

test("an outgoing request rejects a certificate that is not trusted", async () => {
  const port = await listening(createTlsServer(testCertificate, () => undefined));
  const url = new URL(`https://127.0.0.1:${port}/`);
  await expect(direct({ ...get(port), url })).rejects.toThrow(/certificate/);
});

test("an outgoing request goes through the scheduler's own proxy", async () => {
  const port = await serve((_request, response) => response.end("hello"));
  const proxy = await forwardProxy(port);
  closers.push(() => proxy.close());
  const send = createSendRequest({ proxyEnv: { HTTP_PROXY: proxy.url } });
  const url = new URL("http://alerts.example.test/x");
  expect((await send({ ...get(port), url })).text).toBe("hello");
  expect(proxy.seen).toEqual(["GET http://alerts.example.test/x user:proxy-pass"]);
});

test("an outgoing request leaves no connection to a proxy that does not respond", async () => {
  const sockets: Socket[] = [];
  const port = await listening(createTcpServer((socket) => sockets.push(socket.resume())));
  const proxyEnv = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
  const send = createSendRequest({ proxyEnv, timeoutMs: 300 });
  const url = new URL("https://alerts.example.test/");
  await expect(send({ ...get(port), url })).rejects.toThrow("no whole answer within 0.3 s");
  const isEnded = (socket: Socket) => socket.readableEnded || socket.destroyed;
  await expect.poll(() => sockets.map(isEnded)).toEqual([true]);
});
