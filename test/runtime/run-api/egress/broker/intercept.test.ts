import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { pause } from "../../../../helpers/pause.ts";
import { forward, getThrough, tlsOver } from "../support.ts";
import { authorization, host, openedTunnels } from "./opened-tunnels.ts";
import { secret, sentinel, unproven } from "./opened-tunnels.ts";

const { made, tunnel, headersOf, ask } = openedTunnels();

/** Answers with the authentication that came. */
const echo: RequestListener = (message, response) =>
  void response.end(String(message.headers.authorization));

/** How a body goes to the host, as far as it came. */
function received() {
  const got = { text: "", isWhole: false, isOver: false };
  made().side.hosts.answer = (message) => {
    message.on("data", (chunk: Buffer) => (got.text += chunk.toString()));
    message.on("error", () => undefined);
    message.once("close", () => Object.assign(got, { isWhole: message.complete, isOver: true }));
  };
  return got;
}

test("a placeholder in a request is replaced by the secret, and the secret in the response by the placeholder", async () => {
  made().side.hosts.answer = (message, response) => {
    response.setHeader("x-echo", String(message.headers.authorization));
    echo(message, response);
  };
  const answer = await ask();
  expect(headersOf("authorization")).toEqual([[`Bearer ${secret}`]]);
  expect(answer).toMatchObject({ status: 200, body: `Bearer ${sentinel}` });
  expect(answer.headers["x-echo"]).toBe(`Bearer ${sentinel}`);
  await made().side.reported(1);
  expect(made().side.attempts[0]).toMatchObject({ host, denied: null });
  // The way is the one that was checked.
  expect(made().side.hosts.lookups).toEqual([host]);
  expect(made().side.hosts.dialled).toEqual(["203.0.113.10:443"]);
});

test("a secret in a compressed response is masked, and a response in an unknown coding is refused", async () => {
  made().side.hosts.answer = (message, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync(String(message.headers.authorization)));
  };
  const headers = { ...authorization, "accept-encoding": "gzip" };
  const answer = await ask("/", { headers });
  expect(headersOf("accept-encoding")).toEqual([["identity"]]);
  expect(answer.headers).not.toHaveProperty("content-encoding");
  expect(answer.body).toBe(`Bearer ${sentinel}`);
  made().side.hosts.answer = (_message, response) =>
    response.setHeader("content-encoding", "odd").end("?");
  expect(await ask()).toMatchObject({
    status: 502,
    body: expect.stringMatching(/encoding \\?"odd/) as string,
  });
  made().side.hosts.answer = (_message, { socket }) =>
    socket?.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
  expect(await ask()).toMatchObject({
    status: 502,
    body: expect.stringContaining("transfer coding") as string,
  });
});

test("a host whose certificate is for another name receives no request", async () => {
  const options = { ca: made().ca, headers: authorization };
  const answer = await getThrough(await tunnel(unproven), `https://${unproven}/`, options);
  expect(answer.status).toBe(502);
  expect(made().side.hosts.seen).toEqual([]);
  const [attempt] = made().side.attempts;
  expect(attempt).toMatchObject({ denied: "unreachable" });
  expect(attempt?.detail).toMatch(/altnames|subtree/);
});

test("a tunnel to a host without secrets is not intercepted: the run sees the host's own certificate", async () => {
  const trusted = { ca: made().side.hosts.ca, headers: authorization };
  const answer = await getThrough(await tunnel("other.test"), "https://other.test/", trusted);
  expect(answer.status).toBe(200);
  expect(headersOf("authorization")).toEqual([[`Bearer ${sentinel}`]]);
});

test.each([
  ["the address of the request", `/?token=${sentinel}`, {}],
  ["the body of the request", "/", { method: "POST", body: `token=${sentinel}` }],
  ["headers for authentication only", "/", { headers: { "user-agent": sentinel } }],
])("a secret's placeholder in a wrong place is rejected with an error about %s", async (...row) => {
  const [place, path, options] = row;
  const answer = await ask(path, options);
  expect(answer.status).toBe(403);
  expect(answer.body).toContain(place);
  await made().side.reported(2);
  expect(made().side.attempts[0]).toMatchObject({ host, denied: "sentinel", agent: "dev" });
  const seen = made().side.hosts.seen.map(({ url, rawHeaders }) => [url, rawHeaders]);
  expect(JSON.stringify(seen)).not.toContain("AlSentinel");
});

test("a secret's placeholder in a body aborts the request even if packets split it", async () => {
  const got = received();
  const socket = await tunnel();
  const createConnection = () => tlsOver(socket, host, made().ca);
  const headers = { host, ...authorization };
  const sent = request({ createConnection, host, method: "POST", headers });
  const answered = once(sent, "response");
  sent.write("one AlSen");
  await expect.poll(() => got.text).toBe("one ");
  for (const piece of ["tin", `el${"c".repeat(26)} two`]) {
    sent.write(piece);
    await pause(30, "each piece comes in a packet of its own");
  }
  sent.end();
  const [response] = (await answered) as [IncomingMessage];
  expect(response.statusCode).toBe(403);
  expect(await text(response)).toContain("the body of the request");
  await expect.poll(() => got).toEqual({ text: "one ", isOver: true, isWhole: false });
});

test.each([
  ["in a header", "/", { headers: authorization }],
  ["in a login", "/", { headers: { authorization: `Basic ${btoa(`x:${sentinel}`)}` } }],
  ["in the address", `/?a=${sentinel}`, {}],
  ["in the body", "/", { method: "POST", body: `a=${sentinel}` }],
])(
  "a secret's placeholder in a request without TLS is rejected: %s",
  async (_where, path, options) => {
    const answer = await forward(made().run, `http://${host}${path}`, options);
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.body).toContain("would have received a placeholder for a secret (in the ");
    const seen = made().side.hosts.seen.map(({ rawHeaders, url }) => [url, rawHeaders]);
    expect(JSON.stringify(seen)).not.toContain("AlSentinel");
    await expect.poll(() => made().side.attempts.at(-1)?.denied).toBe("sentinel");
  },
);

test("an intercepted tunnel does not offer HTTP/2", async () => {
  const options = { servername: host, ca: made().ca, ALPNProtocols: ["h2", "http/1.1"] };
  const secured = connectTls({ socket: await tunnel(), ...options });
  await once(secured, "secureConnect");
  expect(secured.alpnProtocol).not.toBe("h2");
  secured.destroy();
});
