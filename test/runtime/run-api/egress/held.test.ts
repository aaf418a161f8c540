import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { connectTo, egressSide, forward, getThrough, type EgressSide } from "./support.ts";
import type { SocketOfRun } from "../support.ts";

/** A connection that a gate holds. */
interface HeldConnection {
  readonly host: string;
  readonly signal: AbortSignal;
  /** Null allows it; a text is why not. */
  readonly answer: (denied: string | null) => void;
}

let side: EgressSide;
let run: SocketOfRun;
let held: HeldConnection[];
let isGated: boolean;
beforeEach(async () => {
  held = [];
  isGated = true;
  side = await egressSide({
    isHeld: () => isGated,
    approve: ({ host }, { signal }) =>
      new Promise((resolve, reject) => {
        held.push({ host, signal, answer: resolve });
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  });
  run = await side.open("dev-1");
});
afterEach(() => side.close());

const nth = (n: number) =>
  vi.waitFor(() => {
    const found = held[n - 1];
    if (found === undefined || held.length > n) throw new Error(`${held.length} are held`);
    return found;
  }, 10_000);
const nothingLeft = () => expect([side.hosts.lookups, side.hosts.dialled]).toEqual([[], []]);

test("a held connection is not looked up, dialled or accepted before a person allows it", async () => {
  let isAccepted = false;
  const connecting = connectTo(run, "API.Allowed.Test.:443");
  void connecting.then(() => (isAccepted = true));
  const { host, answer } = await nth(1);
  expect(host).toBe("api.allowed.test");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isAccepted).toBe(false);
  nothingLeft();
  answer(null);
  const { socket } = await connecting;
  const { body } = await getThrough(socket, "https://api.allowed.test/", side.hosts);
  expect(body).toBe("hello from api.allowed.test");
});

test("a held connection is refused with a sentence about the person who denied it", async () => {
  const [tunnel, plain] = [
    connectTo(run, "api.allowed.test:443"),
    forward(run, "http://api.allowed.test/"),
  ];
  await nth(2);
  for (const { answer } of held) answer("a person denied it for the rest of this run");
  const refusals = [await tunnel, await plain];
  expect(refusals.map(({ status }) => status)).toEqual([403, 403]);
  const detail = "was not approved (a person denied it for the rest of this run). Do without it.";
  expect((await tunnel).detail.trim()).toBe(`api.allowed.test ${detail}`);
  expect((await plain).body.trim()).toBe(`api.allowed.test:80 ${detail}`);
  expect(side.attempts.map(({ denied }) => denied)).toEqual(["not_approved", "not_approved"]);
  nothingLeft();
});

test("a held connection is let go when its client hangs up", async () => {
  const head = `CONNECT api.allowed.test:443 HTTP/1.1\r\nhost: a\r\nproxy-authorization: Bearer ${run.token}\r\n\r\n`;
  const tunnel = connect(run.socket).on("error", () => undefined);
  tunnel.write(head);
  expect((await nth(1)).signal.aborted).toBe(false);
  tunnel.end();
  await expect.poll(() => held[0]?.signal.aborted).toBe(true);
  const plain = connect(run.socket).on("error", () => undefined);
  plain.write(head.replace("CONNECT api.allowed.test:443", "GET http://api.allowed.test/"));
  await nth(2);
  plain.destroy();
  await expect.poll(() => held[1]?.signal.aborted).toBe(true);
  expect((await side.reported(2))?.detail).toContain("ended before a person answered");
  expect(side.problems).toEqual([]);
  nothingLeft();
});

test("a held connection keeps the first bytes of a client that does not wait", async () => {
  const socket = connect(run.socket);
  const asked = `CONNECT api.allowed.test:22 HTTP/1.1\r\nhost: a\r\nproxy-authorization: Bearer ${run.token}\r\n\r\n`;
  socket.write(asked);
  const { answer } = await nth(1);
  socket.write("SSH-2.0-early\r\n");
  await new Promise((resolve) => setTimeout(resolve, 50));
  answer(null);
  await expect.poll(() => side.hosts.ssh).toHaveLength(1);
  const arrived = text(side.hosts.ssh[0] ?? socket);
  socket.end();
  expect(await arrived).toBe("SSH-2.0-early\r\n");
});

const opened = async () => {
  const connecting = connectTo(run, "api.allowed.test:22");
  (await nth(1)).answer(null);
  const { socket } = await connecting;
  socket.resume();
  return { socket, closed: once(socket, "close").then(() => "closed") };
};
const turns = () => new Promise((resolve) => setTimeout(resolve, 50, "open"));

test.each([
  ["a gate is added that holds it", () => (isGated = true)],
  ["its entry is removed", () => side.allow(["files.allowed.test"])],
])("an open tunnel is cut when %s", async (_why, change) => {
  isGated = false;
  const { closed } = await opened();
  side.egress.recheck();
  expect(await Promise.race([closed, turns()])).toBe("open");
  change();
  side.egress.recheck();
  expect(await closed).toBe("closed");
});

test("an open tunnel stays open if a person allowed it", async () => {
  const { socket, closed } = await opened();
  side.egress.recheck();
  expect(await Promise.race([closed, turns()])).toBe("open");
  socket.destroy();
});

const get = (path: string) =>
  `GET http://api.allowed.test${path} HTTP/1.1\r\nhost: api.allowed.test\r\nproxy-authorization: Bearer ${run.token}\r\n\r\n`;

test.each([
  ["one after the other", false],
  ["sent in one piece", true],
])("two requests on one connection are each held: %s", async (_how, isPipelined) => {
  const socket = connect(run.socket);
  let answered = "";
  socket.on("data", (bytes: Buffer) => (answered += bytes.toString()));
  socket.write(isPipelined ? get("/1") + get("/2") : get("/1"));
  await expect.poll(() => held).toHaveLength(isPipelined ? 2 : 1);
  held[0]?.answer(null);
  await expect.poll(() => answered).toContain("hello");
  if (!isPipelined) socket.write(get("/2"));
  const second = await nth(2);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(side.hosts.seen.map(({ url }) => url)).toEqual(["/1"]);
  second.answer("no");
  await expect.poll(() => answered).toContain("403");
  expect(side.hosts.seen).toHaveLength(1);
  socket.destroy();
});
