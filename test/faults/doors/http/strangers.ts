import { connect, type Socket } from "node:net";
import { randomBy } from "../../../helpers/random.ts";
import { pause } from "../../../helpers/pause.ts";

/**
 * Clients without a key whose requests come ahead of the answers, in pieces, malformed or without end, and who read
 * nothing, a little or all. Arguments: a port or a socket's path, the number of connections, a seed. A connection that
 * the server closes is replaced within a second, and a dot is printed for it.
 */
const [address = "", connections = "1000", seed = "1"] = process.argv.slice(2);
const host = "Host: localhost\r\n";
const get = (path: string, headers = "", method = "GET"): string =>
  `${method} ${path} HTTP/1.1\r\n${host}${headers}\r\n`;
const post = (path: string, headers: string, body = ""): string =>
  `${get(path, `${headers}\r\n`, "POST")}${body}`;
const github = (headers: string, body?: string): string => post("/webhooks/github", headers, body);
const requests = [
  get("/login"),
  get("/login", "", "HEAD"),
  get("/openapi.json"),
  get("/nothing-here"),
  get("http://example.com/"),
  get("/dashboard", `Accept: text/html\r\nX: ${"x".repeat(3_000)}\r\n`),
  `GET /login HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`,
  "GET /without-host HTTP/1.1\r\n\r\n",
  get("*", "", "OPTIONS"),
  get("example.com:443", "", "CONNECT"),
  get("/api/logs/stream", "Upgrade: websocket\r\nConnection: Upgrade\r\n"),
  github("Content-Length: 0"),
  post("/webhooks/open-github", "Content-Length: 2", "{}"),
  github("Content-Length: 9999999999", "{"),
  github("Content-Length: 50000", "x".repeat(50_000)),
  github("Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"),
  github("Expect: 100-continue\r\nContent-Length: 2", "{}"),
  post("/run/lock", "Authorization: Bearer forged\r\nContent-Length: 2", "{}"),
  post("/model/main/v1/messages", "Content-Length: 2", "{}"),
  "\u0016\u0003\u0001 not HTTP \r\n\r\n",
];

const next = randomBy(Number(seed));
/** A whole number below the limit, by the seed. */
const random = (limit: number): number => Math.floor(next() * limit);

async function attack(socket: Socket): Promise<void> {
  const first = requests[random(requests.length)] ?? "";
  const second = random(2) === 0 ? first : (requests[random(requests.length)] ?? "");
  const text = (first + second).repeat(Math.ceil(65_536 / (first.length + second.length)));
  const reads = ["nothing", "once", "all"][random(3)];
  if (reads === "all") socket.resume();
  if (reads === "once") socket.once("data", () => socket.pause());
  const bytes = Buffer.from(text, "latin1").subarray(0, random(4) === 0 ? first.length : 65_536);
  const cut = random(3) === 0 ? random(bytes.length) : bytes.length;
  socket.write(bytes.subarray(0, cut));
  await pause(random(500), "the rest of a request comes late");
  if (!socket.destroyed) socket.write(bytes.subarray(cut));
}

function open(): void {
  const socket = /^\d+$/.test(address) ? connect(Number(address), "127.0.0.1") : connect(address);
  socket.on("error", () => undefined);
  socket.once("connect", () => void attack(socket));
  socket.once("close", () => {
    process.stdout.write(".");
    again();
  });
}
function again(): void {
  void pause(random(1_000), "strangers come one by one").then(open);
}

for (let n = 0; n < Number(connections); n += 1) again();
