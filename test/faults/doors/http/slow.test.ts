import { rawConnection, statusesIn, type RawConnection } from "../raw-http.ts";
import { openApp } from "../../../interfaces/gateway/start-gateway.ts";
import { helloScheduler } from "./hello-scheduler.ts";
import { pause } from "../../../helpers/pause.ts";

const scheduler = helloScheduler();

const headers = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const slowHeader = `${headers}X-Slow: `;
const slowBody = `${headers}Content-Length: 8000\r\n\r\n{`;

/** A connection that sent this. */
function sent(text = "", url = scheduler().url): RawConnection {
  const connection = rawConnection(url);
  connection.write(text);
  return connection;
}

/** Sends its text, then a byte a second, as long as anybody listens. */
function drip(text: string, url?: string): RawConnection {
  const connection = sent(text, url);
  const timer = setInterval(() => connection.write("x"), 1_000);
  connection.socket.once("close", () => clearInterval(timer));
  return connection;
}

const many = <T>(count: number, one: () => T) => Array.from({ length: count }, one);
const statuses = ({ said }: RawConnection) => statusesIn(said());

/** Expects that others are served while the attack goes on, which its connections do for 10 s. */
async function othersAreServed(): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const began = performance.now();
    expect((await scheduler().api("/control/status")).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(8_000);
  }
}

test("a client that sends slowly is disconnected at the limits of headers and of a body, which are 10 s and 30 s", async () => {
  const { app } = await openApp();
  expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 });
  Object.assign(app.server, { headersTimeout: 200, requestTimeout: 400 });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const slow = [sent("", url), drip(slowHeader, url), drip(slowBody, url)];
  await Promise.all(slow.map(({ closed }) => closed));
  expect(slow.map(statuses).at(-1)).toEqual([408]);
});

test("a client that holds many connections open loses those, without affecting the operator's event stream or later requests", async () => {
  const key = `Authorization: Bearer ${scheduler().apiKey}\r\n`;
  const stream = sent(`GET /api/logs/stream HTTP/1.1\r\nHost: localhost\r\n${key}\r\n`);
  await expect.poll(() => statuses(stream)).toEqual([200]);
  const idle = many(1_200, () => sent());
  await Promise.all(idle.slice(0, 150).map(({ closed }) => closed));
  await othersAreServed();
  expect(stream.socket.readyState).toBe("open");
});

test.each([
  ["one header of 20 KB", `/health HTTP/1.1\r\nX: ${"x".repeat(20_000)}`],
  ["a thousand headers", `/health HTTP/1.1${"\r\nX-A: aaaaaaaaaaaaaaa".repeat(1_000)}`],
  ["an address of 20 KB", `/${"a".repeat(20_000)} HTTP/1.1`],
])("a client that sends too much gets 431 for %s", async (_what, text) => {
  const connection = sent(`GET ${text}\r\nHost: localhost\r\n\r\n`);
  await connection.closed;
  expect(statuses(connection)).toEqual([431]);
});

test("a client that sends too much gets 413 before its body is sent, declared or chunked", async () => {
  const start = "POST /webhooks/github HTTP/1.1\r\nHost: a\r\n";
  const chunk = "x".repeat(600_000);
  const declared = sent(`${start}Content-Length: 99999999999\r\n\r\nx`);
  const chunked = sent(`${start}Transfer-Encoding: chunked\r\n\r\n`);
  let count = 0;
  for (; count < 500 && statuses(chunked).length === 0; count += 1) {
    chunked.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    await pause(5, "an answer has time to arrive between two chunks");
  }
  expect(count).toBeLessThan(100);
  expect(statuses(chunked)).toEqual([413]);
  await expect.poll(() => statuses(declared)).toEqual([413]);
});
