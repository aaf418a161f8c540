import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createIntercept } from "../../../../../src/runtime/run-api/egress/broker/intercept.ts";
import { createRunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";
import { Upstream } from "../../../../../src/runtime/run-api/egress/broker/upstream.ts";
import type { SocketOfRun } from "../../support.ts";
import { connectTo, egressSide, tlsOver, forward, getThrough } from "../support.ts";
import type { EgressSide } from "../support.ts";
import { allowedHosts } from "../../../../../src/foundation/contracts/network-allow.ts";

const host = "api.allowed.test";
const secret = `ghp_${"R3al".repeat(9)}`;
const sentinel = `ghp_AlSentinel${"a".repeat(26)}`;
const bindings = [{ sentinel, secret, hosts: [host] }];
const login = `Authorization: Bearer ${sentinel}`;
const ownAuthorities = getCACertificates("default");

let side: EgressSide;
let run: SocketOfRun;
let ca: string;
beforeEach(async () => {
  const authority = await createRunAuthority("6b".repeat(32), "dev-1");
  ca = authority.certificate([host]);
  const contextFor = (_instanceId: string, name: string) =>
    Promise.resolve(authority.contextFor(name));
  side = await egressSide({ intercept: createIntercept(contextFor) });
  setDefaultCACertificates([...ownAuthorities, side.hosts.ca]);
  side.allow([host, "other.test", `${host}:80`], { bindings });
  run = await side.open("dev-1");
});
afterEach(async () => {
  setDefaultCACertificates(ownAuthorities);
  await side.close();
});

/** Everything that comes back to these bytes, up to the end of the connection or half a second without a byte. */
async function answersTo(...lines: readonly string[]): Promise<string> {
  const { socket } = await connectTo(run, `${host}:443`);
  const secured = tlsOver(socket, host, ca);
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
    await wait(100);
    quiet = read() !== "" && read() === last ? quiet + 1 : 0;
  }
}

const seenHosts = () =>
  side.hosts.seen.map(({ rawHeaders }) =>
    rawHeaders.filter((_text, index) => rawHeaders[index - 1]?.toLowerCase() === "host"),
  );

test.each([
  ["of two", [`Host: ${host}`, "Host: files.allowed.test"]],
  ["in upper case, with a dot and a port", [`Host: API.Allowed.Test.:443`]],
  ["with what a name is read without", ["Host: api.allo\u00adwed.test"]],
  ["that counts for one connection", [`Host: ${host}`, "Connection: close, host"]],
])("a host gets only its own Host header: %s", async (_what, headers) => {
  await answersTo("GET / HTTP/1.1", ...headers, login, "", "");
  expect(seenHosts()).toEqual([[host]]);
});

test.each([
  ["another one first", ["GET / HTTP/1.1", "Host: files.allowed.test", `Host: ${host}`]],
  ["none", ["GET / HTTP/1.0"]],
  ["another one in the address", ["GET http://files.allowed.test/ HTTP/1.1", `Host: ${host}`]],
  ["its own in the address", [`GET https://${host}/ HTTP/1.1`, `Host: ${host}`]],
  ["userinfo", ["GET / HTTP/1.1", `Host: files.allowed.test@${host}`]],
  ["a list", ["GET / HTTP/1.1", `Host: ${host}, files.allowed.test`]],
  ["a tunnel in the tunnel", [`CONNECT ${host}:443 HTTP/1.1`, `Host: ${host}`]],
])("a host gets only its own Host header or rejects the request: %s", async (_what, head) => {
  expect(await answersTo(...head, login, "", "")).not.toContain("200 OK");
  expect(side.hosts.seen).toEqual([]);
});

const smuggled = ["GET /smuggled HTTP/1.1", "Host: files.allowed.test", "", ""].join("\r\n");
const length = `Content-Length: ${smuggled.length}`;
test.each([
  ["length and chunks", [length, "Transfer-Encoding: chunked", "", `0\r\n\r\n${smuggled}`]],
  ["two lengths", [length, "Content-Length: 0", "", smuggled]],
  ["a coding in pieces", ["Transfer-Encoding: chunked, identity", length, "", smuggled]],
  ["an odd coding", ["Transfer-Encoding: xchunked", length, "", smuggled]],
  ["a folded header", ["X-A: b", " Transfer-Encoding: chunked", length, "X: \n", smuggled]],
  ["a space before the colon", [`Content-Length : ${smuggled.length}`, "", smuggled]],
  ["a bare line feed", ["X-A: b\nTransfer-Encoding: chunked", length, "", smuggled]],
])("a hidden request never reaches the host: %s", async (_what, rest) => {
  await answersTo("POST / HTTP/1.1", `Host: ${host}`, login, ...rest);
  expect(side.hosts.seen.map(({ url }) => url)).not.toContain("/smuggled");
  expect(seenHosts().flat()).not.toContain("files.allowed.test");
});

test("pipelined requests are separate requests, each checked", async () => {
  const one = ["GET /one HTTP/1.1", `Host: ${host}`, login, "", ""].join("\r\n");
  const other = one.replace("/one", "/two").replace(`Host: ${host}`, "Host: files.allowed.test");
  const received = await answersTo(`${one}${other}`);
  expect(received).toMatch(/^HTTP\/1.1 200 OK[^]*HTTP\/1.1 421 /);
  expect(side.hosts.seen.map(({ url }) => url)).toEqual(["/one"]);
});

test("a header that a host may show to others never gets a secret", async () => {
  for (const name of ["User-Agent", "Referer", "Idempotency-Key", "X-Request-Id"]) {
    const received = await answersTo(
      "GET / HTTP/1.1",
      `Host: ${host}`,
      `${name}: ${sentinel}`,
      "Authorization: Bearer a-token-of-a-stranger",
      "",
      "",
    );
    expect(received).toMatch(/^HTTP\/1.1 403 [^]*headers for authentication only/);
  }
  expect(side.hosts.seen).toEqual([]);
});

test("trailers of a request are dropped", async () => {
  const chunks = ["Transfer-Encoding: chunked", "Trailer: x-a", "", "0", `x-a: ${sentinel}`];
  await answersTo("POST / HTTP/1.1", `Host: ${host}`, login, ...chunks, "", "");
  const [request] = side.hosts.seen;
  expect(request?.rawTrailers).toEqual([]);
  expect(JSON.stringify(request?.rawHeaders)).not.toContain("AlSentinel");
});

test("a host that accepts a connection and never answers keeps none when the run hangs up", async () => {
  const open = new Set<Socket>();
  const silent = createServer((socket) => {
    open.add(socket.resume().on("error", () => undefined));
    socket.once("close", () => open.delete(socket));
  });
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const { dialDirect } = await import("../../../../../src/runtime/run-api/egress/dial.ts");
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

const authorization = { authorization: `Bearer ${sentinel}` };
const seenHeaders = () => side.hosts.seen.map(({ headers }) => headers.authorization);

test("a tunnel to the host of a secret is opened, and its request has the secret", async () => {
  const { socket } = await connectTo(run, `${host}:443`);
  const answer = await getThrough(socket, `https://${host}/`, { ca, headers: authorization });
  expect(answer).toMatchObject({ status: 200, body: `hello from ${host}` });
  expect(seenHeaders()).toEqual([`Bearer ${secret}`]);
  await side.reported(1);
  expect(side.attempts[0]).toMatchObject({ host, denied: null });
});

test("a tunnel to another host is not opened: the run sees the host's own certificate and sends no secret", async () => {
  const { socket } = await connectTo(run, "other.test:443");
  const trusted = { ca: side.hosts.ca, headers: authorization };
  expect(await getThrough(socket, "https://other.test/", trusted)).toMatchObject({ status: 200 });
  expect(seenHeaders()).toEqual([`Bearer ${sentinel}`]);
});

test("a sentinel in a tunnel is reported, and the connection counted", async () => {
  const { socket } = await connectTo(run, `${host}:443`);
  const answer = await getThrough(socket, `https://${host}/?token=${sentinel}`, { ca });
  expect(answer.status).toBe(403);
  expect(side.hosts.seen).toEqual([]);
  await side.reported(2);
  expect(side.attempts[0]).toMatchObject({ host, denied: "sentinel", agent: "dev" });
  expect(side.attempts[0]?.detail).toContain("the address of the request");
});

test("the end of a run cuts its opened tunnels", async () => {
  const { socket } = await connectTo(run, `${host}:443`);
  const secured = tlsOver(socket, host, ca);
  await new Promise((resolve) => secured.once("secureConnect", resolve));
  const closed = new Promise((resolve) => secured.once("close", resolve));
  await side.egress.close();
  await closed;
});

test.each([
  ["in a header", "/", { headers: authorization }],
  ["in a login", "/", { headers: { authorization: `Basic ${btoa(`x:${sentinel}`)}` } }],
  ["in the address", `/?a=${sentinel}`, {}],
  ["in the body", "/", { method: "POST", body: `a=${sentinel}` }],
])("a sentinel in a request without TLS is refused: %s", async (_where, path, options) => {
  const answer = await forward(run, `http://${host}${path}`, options);
  expect(answer).toMatchObject({ status: 403 });
  expect(answer.body).toContain("would have been sent what stands for a secret (in the ");
  expect(
    JSON.stringify(side.hosts.seen.map(({ rawHeaders, url }) => [url, rawHeaders])),
  ).not.toContain("AlSentinel");
  await expect.poll(() => side.attempts.at(-1)?.denied).toBe("sentinel");
});

test("the allow list applies to hosts of secrets too", async () => {
  side.allow([], { bindings, allow: allowedHosts(["other.test"]) });
  const { status, phrase } = await connectTo(run, `${host}:443`);
  expect({ status, phrase }).toEqual({ status: 403, phrase: `${host} is not in [network].allow` });
});
