import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { fastify } from "fastify";
import { concat, firstValueFrom, NEVER, of, Subject, throwError, type Observable } from "rxjs";
import { createEventStreams, eventText } from "../../../src/interfaces/gateway/sse.ts";
import type { StreamLimits } from "../../../src/interfaces/gateway/sse.ts";
import { readStream } from "./event-stream.ts";

async function serve(
  events$: Observable<string>,
  limits: Partial<StreamLimits> = {},
  before: () => Promise<unknown> = () => Promise.resolve(),
) {
  const lines: string[] = [];
  let clients = 0;
  const streams = createEventStreams(
    limits,
    (level, message) => lines.push(`${level} ${message}`),
    (_stream, change) => (clients += change),
  );
  const app = fastify();
  app.get("/stream", async (request, reply) => {
    await before();
    streams.serve(request, reply, events$, NEVER);
    return reply;
  });
  app.addHook("preClose", (done) => {
    streams.endAll();
    done();
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { app, lines, clients: () => clients, port, url: `http://127.0.0.1:${port}/stream` };
}

/** A client that asks and never reads. */
function deafClient(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause();
  socket.on("error", () => undefined);
  socket.write("GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n");
  onTestFinished(() => void socket.destroy());
  return socket;
}

const megabyte = eventText("update", "1", JSON.stringify("x".repeat(1024 * 1024)));

test("an event stream sends heartbeats while nothing happens", async () => {
  const { url } = await serve(concat(of(""), NEVER), { heartbeatMs: 20 });
  const stream = await readStream(url, {});
  await expect.poll(() => stream.text().split(": heartbeat\n\n").length).toBeGreaterThan(2);
});

test("a large first event reaches a client that reads", async () => {
  const events = new Subject<string>();
  const { url } = await serve(concat(of(megabyte.repeat(8)), events));
  const stream = await readStream(url, {});
  await expect.poll(() => stream.events().length).toBe(8);
  events.next(eventText("update", "2", '"small"'));
  await expect.poll(() => stream.events().at(-1)?.data).toBe("small");
});

test("an event stream drops a client that doesn't read, and its buffer stays small", async () => {
  const events = new Subject<string>();
  const { port, lines } = await serve(concat(of(""), events));
  deafClient(port);
  await expect.poll(() => events.observed).toBe(true);
  // The kernel takes some megabytes before anything waits in the process.
  let sent = 0;
  while (lines.length === 0 && sent < 200) {
    events.next(megabyte);
    sent += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(lines).toEqual(["30 dropped the stream client 127.0.0.1: it does not read"]);
  await expect.poll(() => events.observed).toBe(false);
  expect(sent).toBeLessThan(50);
});

test("an event stream drops a client that doesn't read the first event in time", async () => {
  const { port, lines } = await serve(concat(of(megabyte.repeat(32)), NEVER), {
    firstWithinMs: 50,
  });
  deafClient(port);
  await expect
    .poll(() => lines)
    .toEqual([
      "30 dropped the stream client 127.0.0.1: it did not read the first events within 50 ms",
    ]);
});

test("an event stream ends when its events end or fail, and logs the failure", async () => {
  const ended = await readStream((await serve(of("", "id: 1\n\n"))).url, {});
  await expect.poll(() => ended.isEnded()).toBe(true);
  expect(ended.text()).toContain("id: 1");
  const broken = await serve(throwError(() => new Error("no such file")));
  const stream = await readStream(broken.url, {});
  await expect.poll(() => stream.isEnded()).toBe(true);
  expect(broken.lines).toEqual(["50 an event stream broke off: no such file"]);
});

test("a server closes while event streams are open, read or not", async () => {
  const { app, url, port } = await serve(concat(of(megabyte.repeat(32)), NEVER));
  const stream = await readStream(url, {});
  deafClient(port);
  await expect.poll(() => stream.text().length).toBeGreaterThanOrEqual(32 * megabyte.length);
  await app.close();
  await expect.poll(() => stream.isEnded()).toBe(true);
});

test("a client that left before its event stream opened subscribes to nothing", async () => {
  const found = new Subject<null>();
  const events = new Subject<string>();
  const { app, port, clients } = await serve(events, {}, () => firstValueFrom(found));
  const client = deafClient(port);
  const [, response] = (await once(app.server, "request")) as [unknown, ServerResponse];
  client.destroy();
  await once(response, "close");
  found.next(null);
  await new Promise((resolve) => setImmediate(resolve));
  expect(events.observed).toBe(false);
  expect(clients()).toBe(0);
});

test("a HEAD of an event stream gets the headers only", async () => {
  const { url } = await serve(NEVER);
  const response = await fetch(url, { method: "HEAD" });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
});
