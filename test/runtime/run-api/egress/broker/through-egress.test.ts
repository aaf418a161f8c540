import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { Upstream } from "../../../../../src/runtime/run-api/egress/broker/upstream.ts";
import { dialDirect } from "../../../../../src/runtime/run-api/egress/dial.ts";
import { listen } from "../../../../helpers/listen.ts";
import { pause } from "../../../../helpers/pause.ts";
import { tlsOver } from "../support.ts";
import { host, openedTunnels, sentinel } from "./opened-tunnels.ts";

const login = `Authorization: Bearer ${sentinel}`;
const { made, tunnel, headersOf } = openedTunnels();

/** Everything that comes back to these bytes, up to the end of the connection or half a second without a byte. */
async function answersTo(...lines: readonly string[]): Promise<string> {
  const secured = tlsOver(await tunnel(), host, made().ca);
  let received = "";
  secured.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  const closed = once(secured, "close");
  secured.write(Buffer.from(lines.join("\r\n"), "latin1"));
  await Promise.race([closed, waitForQuiet(() => received)]);
  secured.destroy();
  return received;
}

async function waitForQuiet(read: () => string): Promise<void> {
  for (let last = "", quiet = 0; quiet < 5; last = read()) {
    await pause(100, "no more bytes must come");
    quiet = read() !== "" && read() === last ? quiet + 1 : 0;
  }
}

test.each([
  ["two headers", [`Host: ${host}`, "Host: files.allowed.test"]],
  ["one in upper case, with a dot and a port", [`Host: API.Allowed.Test.:443`]],
  ["a header with a soft hyphen", ["Host: api.allo\u00adwed.test"]],
  ["a header that Connection lists", [`Host: ${host}`, "Connection: close, host"]],
])("a host gets a Host header with its name in place of %s", async (_what, headers) => {
  await answersTo("GET / HTTP/1.1", ...headers, login, "", "");
  expect(headersOf("host")).toEqual([[host]]);
});

test.each([
  ["another port", ["GET / HTTP/1.1", `Host: ${host}:8443`]],
  ["no Host", ["GET / HTTP/1.0"]],
  ["another host in the URL", ["GET http://files.allowed.test/ HTTP/1.1", `Host: ${host}`]],
  ["two hosts in Host", ["GET / HTTP/1.1", `Host: ${host}, files.allowed.test`]],
  ["a tunnel in the tunnel", [`CONNECT ${host}:443 HTTP/1.1`, `Host: ${host}`]],
  ["an upgrade", ["GET / HTTP/1.1", `Host: ${host}`, "Upgrade: websocket", "Connection: upgrade"]],
])("a request in an intercepted tunnel is not forwarded: %s", async (_what, head) => {
  expect(await answersTo(...head, login, "", "")).not.toContain("200 OK");
  expect(made().side.hosts.seen).toEqual([]);
});

const smuggled = ["GET /smuggled HTTP/1.1", "Host: files.allowed.test", "", ""].join("\r\n");
const length = `Content-Length: ${smuggled.length}`;
test.each([
  ["length and chunks", [length, "Transfer-Encoding: chunked", "", `0\r\n\r\n${smuggled}`]],
  ["chunked before identity", ["Transfer-Encoding: chunked, identity", length, "", smuggled]],
  ["an unknown coding", ["Transfer-Encoding: xchunked", length, "", smuggled]],
  ["a folded header", ["X-A: b", " Transfer-Encoding: chunked", length, "X: \n", smuggled]],
])("a smuggled request never reaches the host: %s", async (_what, rest) => {
  await answersTo("POST / HTTP/1.1", `Host: ${host}`, login, ...rest);
  expect(made().side.hosts.seen.map(({ url }) => url)).not.toContain("/smuggled");
  expect(headersOf("host").flat()).not.toContain("files.allowed.test");
});

test("pipelined requests in a tunnel are checked one by one", async () => {
  const one = ["GET /one HTTP/1.1", `Host: ${host}`, login, "", ""].join("\r\n");
  const other = one.replace("/one", "/two").replace(`Host: ${host}`, "Host: files.allowed.test");
  expect(await answersTo(`${one}${other}`)).toMatch(/^HTTP\/1.1 200 OK[^]*HTTP\/1.1 421 /);
  expect(made().side.hosts.seen.map(({ url }) => url)).toEqual(["/one"]);
});

test("a tunnel sends several requests over one connection to the host", async () => {
  const methods = ["GET", "POST", "HEAD", "DELETE"];
  const rest = [`Host: ${host}`, login, "Content-Length: 0", "", ""];
  made().side.hosts.answer = (_asked, response) => void response.writeHead(204).end();
  const secured = tlsOver(await tunnel(), host, made().ca);
  for (const method of methods) {
    secured.write([`${method} / HTTP/1.1`, ...rest].join("\r\n"));
    const [answer] = (await once(secured, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 204 /);
  }
  secured.destroy();
  const { seen, dialled } = made().side.hosts;
  expect(seen.map(({ method }) => method)).toEqual(methods);
  expect(dialled).toHaveLength(1);
});

test("a connection to a silent host is closed when the run disconnects", async () => {
  const open = new Set<Socket>();
  const silent = createServer((socket) => {
    open.add(socket.resume().on("error", () => undefined));
    socket.once("close", () => open.delete(socket));
  });
  const port = await listen(silent);
  const upstream = new Upstream(host, async () => {
    const socket = dialDirect("127.0.0.1", port);
    await once(socket, "connect");
    return socket;
  });
  const sent = upstream.begin({ method: "GET", path: "/", headers: ["host", host] });
  sent.on("error", () => undefined).end();
  await expect.poll(() => open.size).toBe(1);
  sent.destroy();
  upstream[Symbol.dispose]();
  // Before the time is over in which a host has to answer.
  await expect.poll(() => open.size).toBe(0);
  silent.close();
});

test("the scheduler closes intercepted tunnels when it stops", async () => {
  const secured = tlsOver(await tunnel(), host, made().ca);
  await once(secured, "secureConnect");
  const closed = once(secured, "close");
  await made().side.egress.close();
  await closed;
});
