import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { rawConnection, statusesIn, type RawConnection } from "../raw-http.ts";
import { openApp } from "../../../interfaces/gateway/start-gateway.ts";
import { isLong } from "../../../helpers/long.ts";
import { withHelloScheduler } from "./hello-scheduler.ts";
import { pause } from "../../../helpers/pause.ts";

let scheduler: TestScheduler;
withHelloScheduler((started) => (scheduler = started));

const headers = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

/** Sends its text, then a byte a second, as long as anybody listens. */
function drip(text: string, url = scheduler.url): RawConnection {
  const connection = rawConnection(url);
  connection.write(text);
  const timer = setInterval(() => connection.write("x"), 1_000);
  connection.socket.once("close", () => clearInterval(timer));
  return connection;
}

const many = (count: number, text: string) => Array.from({ length: count }, () => drip(text));

/** How long the slowest of some requests of other people took, in ms, while the attack goes on. */
async function othersWait(): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const began = performance.now();
    expect((await scheduler.api("/control/status")).status).toBe(200);
    times.push(performance.now() - began);
  }
  return Math.max(...times);
}

test("a client that sends slowly is disconnected at the limits of headers and of a body, which are 10 s and 30 s", async () => {
  const { app } = await openApp();
  expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 });
  Object.assign(app.server, { headersTimeout: 200, requestTimeout: 400 });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const [silent, slowHeaders, slowBody] = [
    rawConnection(url),
    drip(`${headers}X-Slow: `, url),
    drip(`${headers}Content-Length: 8000\r\n\r\n{`, url),
  ];
  await Promise.all([silent.closed, slowHeaders.closed, slowBody.closed]);
  expect(statusesIn(slowBody.said())).toEqual([408]);
});

test.runIf(isLong)(
  "a client that sends slowly is disconnected at the limit of headers and of a body, while others are served",
  { timeout: 90_000 },
  async () => {
    const silent = Array.from({ length: 200 }, () => rawConnection(scheduler.url));
    const slowHeaders = many(300, `${headers}X-Slow: `);
    const slowBodies = many(100, `${headers}Content-Length: 8000\r\n\r\n{`);
    expect(await othersWait()).toBeLessThan(1_000);

    const first = await Promise.all([...silent, ...slowHeaders].map(({ closed }) => closed));
    expect(Math.max(...first)).toBeLessThan(16_000);
    expect(await othersWait()).toBeLessThan(1_000);
    const second = await Promise.all(slowBodies.map(({ closed }) => closed));
    expect(Math.min(...second)).toBeGreaterThan(25_000);
    expect(Math.max(...second)).toBeLessThan(40_000);
    expect(slowBodies.flatMap(({ said }) => statusesIn(said()))).toEqual(slowBodies.map(() => 408));
  },
);

test("a client that holds connections open loses its own connections, not the operator's stream or later requests", async () => {
  const stream = rawConnection(scheduler.url);
  const key = `Authorization: Bearer ${scheduler.apiKey}\r\n`;
  stream.write(`GET /api/logs/stream HTTP/1.1\r\nHost: localhost\r\n${key}\r\n`);
  await expect.poll(stream.said).toMatch(/^HTTP\/1\.1 200 /);
  const idle = Array.from({ length: 1_200 }, () => rawConnection(scheduler.url));
  await Promise.all(idle.slice(0, 150).map(({ closed }) => closed));
  expect(await othersWait()).toBeLessThan(1_000);
  expect(stream.socket.readyState).toBe("open");
});

test.each([
  [
    "one header of 20 KB",
    `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
  ],
  [
    "a thousand headers",
    `GET /health HTTP/1.1\r\nHost: localhost\r\n${"X-A: aaaaaaaaaaaaaaa\r\n".repeat(1_000)}\r\n`,
  ],
  ["an address of 20 KB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
])("a client that sends too much gets 431 for %s", async (_what, text) => {
  const connection = rawConnection(scheduler.url);
  connection.write(text);
  await connection.closed;
  expect(statusesIn(connection.said())).toEqual([431]);
});

test("a client that sends too much gets 413 before its body is sent, declared or chunked", async () => {
  const chunk = "x".repeat(600_000);
  const declared = rawConnection(scheduler.url);
  declared.write(
    "POST /webhooks/github HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\nx",
  );
  const chunked = rawConnection(scheduler.url);
  chunked.write("POST /webhooks/github HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  let sent = 0;
  for (; sent < 500 && statusesIn(chunked.said()).length === 0; sent += 1) {
    chunked.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    await pause(5, "an answer has time to arrive between two chunks");
  }
  expect(sent).toBeLessThan(100);
  expect(statusesIn(chunked.said())).toEqual([413]);
  await expect.poll(() => statusesIn(declared.said())).toEqual([413]);
});
