import { createServer, connect } from "node:net";
import { dialDirect } from "../../../../src/runtime/run-api/egress/dial.ts";
import { publicAddress } from "./hosts.ts";
import { egressPerTest, egressSide, forward } from "./support.ts";
import { listen } from "../../../helpers/listen.ts";

const { side, run } = egressPerTest();

/** A connection of the run that sent these lines of a POST. */
function sent(...lines: readonly string[]) {
  const login = `proxy-authorization: Bearer ${run().token}`;
  const head = ["POST http://api.allowed.test/ HTTP/1.1", "host: a", login];
  const socket = connect(run().socket);
  socket.write([...head, ...lines].join("\r\n"));
  return socket;
}

describe("a run's plain HTTP request", () => {
  test("is forwarded to an allowed host, with a Host header from the URL", async () => {
    const headers = { host: "other.test", accept: "text/x", "x-own": "1", connection: "x-own" };
    const answer = await forward(run(), "http://api.allowed.test/a?b=c", { headers });
    expect(answer).toMatchObject({ status: 200, body: "hello from api.allowed.test" });
    const [seen] = side().hosts.seen;
    expect(seen?.url).toBe("/a?b=c");
    const own = { host: "api.allowed.test", accept: "text/x", connection: "close" };
    expect(seen?.headers).toEqual(own);
    const attempt = await side().reported(1);
    expect(attempt).toMatchObject({ host: "api.allowed.test", port: 80, denied: null });
    expect(attempt?.bytesOut).toBeGreaterThan(50);
    expect(attempt?.bytesIn).toBeGreaterThan(50);
  });

  test.each([
    ["of known length", { "content-length": "5" }],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])("is forwarded with a body %s", async (_what, headers) => {
    const post = { method: "POST", headers, body: "12345" };
    expect(await forward(run(), "http://api.allowed.test", post)).toMatchObject({ body: "12345" });
  });

  test("returns a redirect to the run without following it", async () => {
    const { status, headers } = await forward(run(), "http://api.allowed.test/redirect");
    expect([status, headers.location]).toEqual([302, "https://other.test/secret"]);
    expect(side().hosts.dialled).toEqual([`${publicAddress}:80`]);
  });

  test.each([
    ["http://other.test/", 403, "not_allowed"],
    ["http://api.allowed.test:443/", 403, "no_tls"],
    ["http://127.0.0.1/", 403, "refused_address"],
    ["http://api.allowed.test@other.test/", 400, "malformed"],
    ["http://api.allowed.test?x", 400, "malformed"],
    ["https://api.allowed.test/", 400, "malformed"],
    ["file:///etc/passwd", 400, "malformed"],
  ])("is rejected for the URL %s", async (url, status, denied) => {
    const answer = await forward(run(), url);
    expect(answer.status).toBe(status);
    expect(await side().reported(1)).toMatchObject({ denied, detail: answer.body.trim() });
    expect(side().hosts.dialled).toEqual([]);
  });

  test.each([
    "http://other.test\\@api.allowed.test/",
    "http://other.test#@api.allowed.test/",
    "http:/api.allowed.test/",
    "//api.allowed.test/",
  ])("is rejected as malformed for the URL %s", async (url) => {
    expect((await forward(run(), url)).status).toBeOneOf([400, 401]);
    expect(side().hosts.dialled).toEqual([]);
  });

  /** The answer to a request whose host sends these bytes and closes the connection. */
  async function answerOf(bytes: string) {
    const broken = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(bytes));
    });
    const port = await listen(broken);
    const own = await egressSide({ dial: () => dialDirect("127.0.0.1", port) });
    const asked = forward(await own.open("dev-2"), "http://api.allowed.test/");
    const answer = await asked.catch(String);
    await own.close();
    broken.close();
    expect(own.problems).toEqual([]);
    return answer;
  }

  test.each([
    ["closes the connection", ""],
    ["does not speak HTTP", "garbage\r\n\r\n"],
  ])("gets 502 when the host %s", async (_what, bytes) =>
    expect(await answerOf(bytes)).toMatchObject({ status: 502 }),
  );

  test("is aborted when the host closes the connection early", async () =>
    expect(await answerOf("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")).toMatch("aborted"));

  test("is aborted when the run closes the connection", async () => {
    const socket = sent("content-length: 99", "", "part");
    await expect.poll(() => side().hosts.seen.length).toBe(1);
    socket.destroy();
    expect(await side().reported(1)).toMatchObject({ denied: null });
  });
});
