import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request, createServer, type Server } from "node:https";
import type { IncomingMessage, RequestListener } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { createIntercept } from "../../../../../src/runtime/run-api/egress/broker/intercept.ts";
import { createRunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";
import type { RunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";

const run = promisify(execFile);
const host = "api.allowed.test";
const secret = `ghp_${"R3al".repeat(9)}`;
const sentinel = `ghp_AlSentinel${"a".repeat(26)}`;
const foreign = `AlSentinel${"b".repeat(26)}`;
const bindings = [
  { sentinel, secret, hosts: [host] },
  { sentinel: foreign, secret: "another-secret", hosts: ["other.test"] },
];
const ownAuthorities = getCACertificates("default");
const authorityOf = (instanceId: string) => createRunAuthority("6b".repeat(32), instanceId);

let dir: string;
let runs: RunAuthority;
let internet: RunAuthority;
let upstream: Server;
let door: TcpServer;
let answer: RequestListener;
/** What came to the host, and what was reported. */
let seen: { readonly method: string; readonly url: string; readonly headers: string }[];
let denied: string[];
let dialled: number;
let presented: string;
let ended: Promise<void>[];
const sockets = new Set<Socket>();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "al-intercept-"));
  [runs, internet] = await Promise.all([authorityOf("dev-aaaaaaaa"), authorityOf("internet")]);
  await writeFile(join(dir, "ca.pem"), runs.certificate([host, "other.test"]));
  setDefaultCACertificates([...ownAuthorities, internet.certificate([host])]);
});
afterAll(async () => {
  setDefaultCACertificates(ownAuthorities);
  await rm(dir, { recursive: true, force: true });
});

beforeEach(async () => {
  [seen, denied, ended, dialled, presented] = [[], [], [], 0, host];
  answer = (_request, response) => response.setHeader("content-length", 4).end("fine");
  upstream = createServer(
    { SNICallback: (_name, done) => done(null, internet.contextFor(presented)) },
    (message, response) => {
      const { method = "", url = "", rawHeaders } = message;
      seen.push({ method, url, headers: rawHeaders.join("\n") });
      answer(message, response);
    },
  );
  upstream.keepAliveTimeout = 60_000;
  upstream.on("tlsClientError", () => undefined);
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const intercept = createIntercept((_instanceId, name) => Promise.resolve(runs.contextFor(name)));
  door = createTcpServer({ pauseOnConnect: true }, (client) => {
    sockets.add(client);
    client.on("error", () => client.destroy());
    ended.push(
      intercept({
        instanceId: "dev-aaaaaaaa",
        host,
        port: 443,
        client,
        dial: async () => {
          dialled += 1;
          const socket = connect(port, "127.0.0.1");
          await once(socket, "connect");
          return socket;
        },
        bindings,
        onDenied: (reason, detail) => denied.push(`${reason}: ${detail}`),
      }),
    );
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await Promise.all(ended);
  door.close();
  upstream.closeAllConnections();
  upstream.close();
});

const doorPort = () => (door.address() as AddressInfo).port;

async function curl(...args: string[]): Promise<string> {
  const name = args.some((arg) => arg.startsWith("https://")) ? [] : [`https://${host}/`];
  const own = ["-sS", "-i", "--cacert", join(dir, "ca.pem"), "--max-time", "20"];
  const way = ["--connect-to", `::127.0.0.1:${doorPort()}`];
  const { stdout } = await run("curl", [...own, ...way, ...args, ...name], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

const authorization = (value: string) => ["-H", `Authorization: ${value}`];

/** A request of a program that holds its connection. */
function begin({ method, agent }: { readonly method: string; readonly agent?: Agent }) {
  const ca = runs.certificate([host]);
  const headers = { host, authorization: `Bearer ${sentinel}` };
  const place = { host: "127.0.0.1", port: doorPort(), servername: host };
  return request({ ...place, ca, agent: agent ?? false, method, headers });
}

test("a request has the secret, and the program that sent it never does", async () => {
  answer = (message, response) => {
    response.setHeader("x-echo", String(message.headers.authorization));
    response.end(JSON.stringify(message.headers));
  };
  const printed = await curl(...authorization(`Bearer ${sentinel}`));
  expect(seen[0]?.headers).toContain(`Authorization\nBearer ${secret}`);
  expect(printed).toContain(`x-echo: Bearer ${sentinel}`);
  expect(printed).toContain(`"authorization":"Bearer ${sentinel}"`);
  expect(printed).not.toContain(secret);
  expect(denied).toEqual([]);
});

test("a login has the secret, and its echo the sentinel", async () => {
  answer = (message, response) => response.end(String(message.headers.authorization));
  const printed = await curl("-u", `x-access-token:${sentinel}`);
  const login = Buffer.from(`x-access-token:${secret}`).toString("base64");
  expect(seen[0]?.headers).toContain(`Basic ${login}`);
  const [, echoed = ""] = /Basic (\S+)$/.exec(printed) ?? [];
  expect(Buffer.from(echoed, "base64").toString()).toContain(
    `x-access-token:${sentinel.slice(0, -1)}`,
  );
});

test.each([
  ["in the address", [`https://${host}/user?token=${sentinel}`]],
  ["of another host", authorization(`Bearer ${foreign}`)],
  ["in a body", ["-d", `token=${sentinel}`]],
  ["in a header's name", ["-H", `${sentinel}: 1`]],
])("a sentinel %s is rejected, and nothing of it is sent", async (_where, args) => {
  const printed = await curl(...args);
  expect(printed).toMatch(/^HTTP\/1.1 403 /);
  expect(printed).toContain("holds a sentinel, which stands for a secret");
  expect(JSON.stringify(seen)).not.toContain("AlSentinel");
  expect(denied).toEqual([expect.stringContaining("sentinel: ")]);
});

test("a sentinel in the middle of a long body cuts the request off", async () => {
  let received = "";
  const cut = new Promise<string>((resolve) => {
    answer = (message) => {
      message.on("data", (chunk: Buffer) => (received += chunk.toString()));
      message.once("close", () => resolve(message.complete ? "complete" : "cut"));
      message.on("error", () => undefined);
    };
  });
  const body = join(dir, "body");
  await writeFile(body, `${"x".repeat(3_000_000)}${sentinel}${"y".repeat(3_000_000)}`);
  expect(await curl("--data-binary", `@${body}`, "-H", "Expect:")).toMatch(/HTTP\/1.1 403 /);
  expect(await cut).toBe("cut");
  expect(received).not.toMatch(/AlSent|y/);
});

test("a sentinel split over pieces is found", async () => {
  let received = "";
  answer = (message) => {
    message
      .on("data", (chunk: Buffer) => (received += chunk.toString()))
      .on("error", () => undefined);
  };
  const sent = begin({ method: "POST" });
  const answered = once(sent, "response");
  sent.write("one AlSen");
  await expect.poll(() => received).toBe("one ");
  for (const piece of ["tin", `el${"c".repeat(26)} two`]) {
    sent.write(piece);
    await wait(30);
  }
  sent.end();
  const [response] = (await answered) as [IncomingMessage];
  expect(response.statusCode).toBe(403);
  expect(await text(response)).toContain("the body of the request");
  expect(received).toBe("one ");
});

test("a request to another host is rejected in a connection to this one", async () => {
  for (const name of ["other.test", `${host}:8443`, "127.0.0.1"]) {
    expect(await curl("-H", `Host: ${name}`, ...authorization(sentinel))).toMatch(/HTTP\/1.1 421 /);
  }
  expect(await curl("-H", "Upgrade: websocket", "-H", "Connection: upgrade")).toMatch(
    /HTTP\/1.1 403 [^]*Upgrade is refused/,
  );
  expect(seen).toEqual([]);
});

test("a second Host header does not reach the host", async () => {
  const place = { host: "127.0.0.1", port: doorPort(), servername: host };
  const headers = ["Host", host, "Host", "other.test", "Authorization", sentinel];
  const sent = request({ ...place, ca: runs.certificate([host]), agent: false, headers });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect(await text(response)).toBe("fine");
  expect(seen[0]?.headers).toContain(secret);
  expect(seen[0]?.headers).not.toContain("other.test");
});

test("a host with a foreign certificate receives nothing", async () => {
  presented = "elsewhere.test";
  const printed = await curl(...authorization(sentinel));
  expect(printed).toMatch(/^HTTP\/1.1 502 /);
  expect(seen).toEqual([]);
  expect(denied[0]).toMatch(/unreachable: .*(altnames|subtree)/);
});

test("a compressed answer is masked", async () => {
  answer = (message, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync(String(message.headers.authorization)));
  };
  const printed = await curl("--compressed", ...authorization(`Bearer ${sentinel}`));
  expect(seen[0]?.headers).toContain("accept-encoding\nidentity");
  expect(printed).not.toMatch(/content-encoding/i);
  expect(printed.endsWith(`Bearer ${sentinel}`)).toBe(true);
  answer = (_message, response) => response.setHeader("content-encoding", "odd").end("?");
  expect(await curl(...authorization(sentinel))).toMatch(/^HTTP\/1.1 502 [^]*encoding \\?"odd/);
});

test("one connection serves several requests, on both sides", async () => {
  const agent = new Agent({ ca: runs.certificate([host]), keepAlive: true, maxSockets: 1 });
  const statuses: (number | undefined)[] = [];
  for (const method of ["GET", "POST", "HEAD", "DELETE"]) {
    const sent = begin({ method, agent });
    sent.end(method === "POST" ? "body" : undefined);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await text(response);
    statuses.push(response.statusCode);
  }
  agent.destroy();
  expect(statuses).toEqual([200, 200, 200, 200]);
  expect(seen.map(({ method }) => method)).toEqual(["GET", "POST", "HEAD", "DELETE"]);
  expect(dialled).toBe(1);
});

test("HTTP/2 is not offered", async () =>
  expect(await curl("--http2", ...authorization(sentinel))).toMatch(/^HTTP\/1.1 200 /));
