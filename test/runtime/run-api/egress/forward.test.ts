import { once } from "node:events";
import { createServer, connect, type AddressInfo } from "node:net";
import { dialDirect } from "../../../../src/runtime/run-api/egress/dial.ts";
import { publicAddress } from "./hosts.ts";
import { egressSide, forward } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(egressSide, (side) => side.close());
const run = perTest(() => side().open("dev-1"));

test("a request with an absolute URL is forwarded to an allowed host, with the host of its address", async () => {
  const headers = { host: "other.test", accept: "text/x", "x-own": "1", connection: "x-own" };
  const answer = await forward(run(), "http://api.allowed.test/a?b=c", { headers });
  expect(answer).toMatchObject({ status: 200, body: "hello from api.allowed.test" });
  const [seen] = side().hosts.seen;
  expect(seen?.url).toBe("/a?b=c");
  expect(seen?.rawHeaders).not.toContain("other.test");
  expect(seen?.headers).toEqual({
    host: "api.allowed.test",
    accept: "text/x",
    connection: "close",
  });
  const attempt = await side().reported(1);
  expect(attempt).toMatchObject({ host: "api.allowed.test", port: 80, denied: null, agent: "dev" });
  expect(attempt?.bytesOut).toBeGreaterThan(50);
  expect(attempt?.bytesIn).toBeGreaterThan(50);
});

test.each([
  ["with its length", { "content-length": "5" }],
  ["in chunks", { "transfer-encoding": "chunked" }],
  [
    "with a length that it says to be of one connection",
    { "content-length": "5", connection: "content-length" },
  ],
])("a request with an absolute URL takes a body along %s", async (_what, headers) => {
  const post = { method: "POST", headers, body: "12345" };
  expect(await forward(run(), "http://api.allowed.test", post)).toMatchObject({ body: "12345" });
  expect(side().hosts.seen).toHaveLength(1);
});

test("a request with an absolute URL returns a redirect to the run, which has to request its target itself", async () => {
  const { status, headers } = await forward(run(), "http://api.allowed.test/redirect");
  expect([status, headers.location]).toEqual([302, "https://other.test/secret"]);
  expect(side().hosts.dialled).toEqual([`${publicAddress}:80`]);
  expect(await forward(run(), "http://other.test/secret")).toMatchObject({ status: 403 });
  expect(side().hosts.dialled).toHaveLength(1);
});

test.each([
  ["http://other.test/", 403, "not_allowed"],
  ["http://files.allowed.test/", 403, "not_allowed"],
  ["http://api.allowed.test:443/", 403, "no_tls"],
  ["http://api.allowed.test:8080/", 403, "not_allowed"],
  ["http://127.0.0.1/", 403, "refused_address"],
  ["http://[::1]/", 403, "refused_address"],
  ["http://api.allowed.test@other.test/", 400, "malformed"],
  ["http://api.allowed.test?x", 400, "malformed"],
  ["https://api.allowed.test/", 400, "malformed"],
  ["ftp://api.allowed.test/", 400, "malformed"],
  ["file:///etc/passwd", 400, "malformed"],
])("a request with an absolute URL is rejected: %s", async (url, status, denied) => {
  const answer = await forward(run(), url);
  expect(answer.status).toBe(status);
  expect(await side().reported(1)).toMatchObject({ denied });
  expect(answer.body.trim()).toBe(side().attempts[0]?.detail);
  expect(side().hosts.dialled).toEqual([]);
});

test.each([
  "http://other.test\\@api.allowed.test/",
  "http://other.test#@api.allowed.test/",
  "http:/api.allowed.test/",
  "http:api.allowed.test/",
  "//api.allowed.test/",
])("a request with an absolute URL is malformed: %s", async (url) => {
  expect((await forward(run(), url)).status).toBeOneOf([400, 401]);
  expect(side().hosts.dialled).toEqual([]);
});

test("a request with an absolute URL is rejected when its name has a private address", async () => {
  side().hosts.names.set("api.allowed.test", ["10.0.0.7"]);
  const { status, phrase } = await forward(run(), "http://api.allowed.test/");
  expect(status).toBe(403);
  expect(phrase).toBe("api.allowed.test:80 has an address in a private network only");
});

test("a request with an absolute URL gets an answer when its host closes the connection, or does not speak HTTP", async () => {
  for (const text of ["", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"]) {
    const broken = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(text));
    }).listen(0, "127.0.0.1");
    await once(broken, "listening");
    const { port } = broken.address() as AddressInfo;
    const own = await egressSide({ dial: () => dialDirect("127.0.0.1", port) });
    const asked = forward(await own.open("dev-2"), "http://api.allowed.test/");
    if (text.endsWith("half")) await expect(asked).rejects.toThrow("aborted");
    else expect(await asked).toMatchObject({ status: 502 });
    await own.close();
    broken.close();
    expect(own.problems).toEqual([]);
  }
});

test("a request with an absolute URL carries one request only, however its bytes could be parsed", async () => {
  const inner = "GET /inner HTTP/1.1\r\nhost: other.test\r\n\r\n";
  const bytes = [
    "POST http://api.allowed.test/ HTTP/1.1",
    "host: api.allowed.test",
    `proxy-authorization: Bearer ${run().token}`,
    "connection: content-length, transfer-encoding",
    "transfer-encoding: chunked",
    "",
    inner.length.toString(16),
    inner,
    "0",
    "",
    "",
  ].join("\r\n");
  const socket = connect(run().socket);
  socket.write(bytes);
  await once(socket, "data");
  socket.destroy();
  expect(side().hosts.seen.map(({ method, url }) => `${method ?? ""} ${url ?? ""}`)).toEqual([
    "POST /",
  ]);
  for (const both of [
    "content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "content-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
  ]) {
    const raw = connect(run().socket);
    raw.write(
      `POST http://api.allowed.test/ HTTP/1.1\r\nhost: a\r\nproxy-authorization: Bearer ${run().token}\r\n${both}`,
    );
    const [answer] = (await once(raw, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
    raw.destroy();
  }
  expect(side().hosts.seen).toHaveLength(1);
});

test("a request with an absolute URL is cut when the run closes its connection", async () => {
  const sent = connect(run().socket);
  sent.write(
    `POST http://api.allowed.test/ HTTP/1.1\r\nhost: a\r\nproxy-authorization: Bearer ${run().token}\r\ncontent-length: 99\r\n\r\npart`,
  );
  await expect.poll(() => side().hosts.seen.length).toBe(1);
  sent.destroy();
  expect(await side().reported(1)).toMatchObject({ denied: null });
});
