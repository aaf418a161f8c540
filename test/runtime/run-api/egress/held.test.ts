import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { pause } from "../../../helpers/pause.ts";
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

/** Resolves to the newest held connection once there are so many. */
async function nth(n: number): Promise<HeldConnection> {
  await expect.poll(() => held.length).toBe(n);
  const found = held[n - 1];
  if (found === undefined) throw new Error("no connection is held");
  return found;
}

/** A connection to the run's socket that sent these requests. */
function sent(...firstLines: readonly string[]) {
  const heads = firstLines.map(
    (line) =>
      `${line} HTTP/1.1\r\nhost: api.allowed.test\r\nproxy-authorization: Bearer ${run.token}\r\n\r\n`,
  );
  const socket = connect(run.socket).on("error", () => undefined);
  socket.write(heads.join(""));
  return socket;
}

describe("a connection held for approval", () => {
  test("starts no name lookup and no connection to the host before a person allows it", async () => {
    let isAccepted = false;
    const connecting = connectTo(run, "API.Allowed.Test.:443");
    void connecting.then(() => (isAccepted = true));
    const { host, answer } = await nth(1);
    expect(host).toBe("api.allowed.test");
    await pause(50, "it must not be accepted");
    expect([isAccepted, side.hosts.lookups, side.hosts.dialled]).toEqual([false, [], []]);
    answer(null);
    const { socket } = await connecting;
    const { body } = await getThrough(socket, "https://api.allowed.test/", side.hosts);
    expect(body).toBe("hello from api.allowed.test");
  });

  test("gets 403 with the name of the person who denied it", async () => {
    const asked = [
      connectTo(run, "api.allowed.test:443").then(({ status, detail }) => [status, detail.trim()]),
      forward(run, "http://api.allowed.test/").then(({ status, body }) => [status, body.trim()]),
    ];
    await nth(2);
    for (const { answer } of held) answer("a person denied it for the rest of this run");
    const detail =
      "was not approved (a person denied it for the rest of this run). Continue without this host.";
    expect(await Promise.all(asked)).toEqual([
      [403, `api.allowed.test ${detail}`],
      [403, `api.allowed.test:80 ${detail}`],
    ]);
    expect(side.attempts.map(({ denied }) => denied)).toEqual(["not_approved", "not_approved"]);
    expect(side.hosts.lookups).toEqual([]);
  });

  test.each(["CONNECT api.allowed.test:443", "GET http://api.allowed.test/"])(
    "is released when the client disconnects: %s",
    async (line) => {
      const client = sent(line);
      const { signal } = await nth(1);
      expect(signal.aborted).toBe(false);
      client.end();
      await expect.poll(() => signal.aborted).toBe(true);
      expect((await side.reported(1))?.detail).toContain("ended before a person answered");
      expect([side.problems, side.hosts.dialled]).toEqual([[], []]);
    },
  );

  test("keeps the first bytes of a client that does not wait for the response", async () => {
    const socket = sent("CONNECT api.allowed.test:22");
    const { answer } = await nth(1);
    await new Promise<void>((resolve) => socket.write("SSH-2.0-early\r\n", () => resolve()));
    answer(null);
    await expect.poll(() => side.hosts.ssh).toHaveLength(1);
    const arrived = text(side.hosts.ssh[0] ?? socket);
    socket.end();
    expect(await arrived).toBe("SSH-2.0-early\r\n");
  });
});

describe("an open tunnel", () => {
  async function opened() {
    const connecting = connectTo(run, "api.allowed.test:22");
    (await nth(1)).answer(null);
    const { socket } = await connecting;
    return { socket, closed: once(socket.resume(), "close").then(() => "closed") };
  }
  /** What became of the tunnel after a recheck. */
  const rechecked = (closed: Promise<string>) => {
    side.egress.recheck();
    return Promise.race([closed, pause(50, "it must not be cut").then(() => "open")]);
  };

  test.each([
    ["a new approval gate includes it", () => (isGated = true)],
    ["the host is removed from the allow list", () => side.allow(["files.allowed.test"])],
  ])("is closed when %s", async (_why, change) => {
    isGated = false;
    const { closed } = await opened();
    expect(await rechecked(closed)).toBe("open");
    change();
    side.egress.recheck();
    expect(await closed).toBe("closed");
  });

  test("stays open if a person allowed it", async () => {
    const { socket, closed } = await opened();
    expect(await rechecked(closed)).toBe("open");
    socket.destroy();
  });
});

const [first, second] = ["GET http://api.allowed.test/1", "GET http://api.allowed.test/2"];

test("pipelined requests on one connection are each held for approval", async () => {
  const socket = sent(first, second);
  let answered = "";
  socket.on("data", (bytes: Buffer) => (answered += bytes.toString()));
  await nth(2);
  held[0]?.answer(null);
  await expect.poll(() => answered).toContain("hello");
  held[1]?.answer("no");
  await expect.poll(() => answered).toContain("403");
  expect(side.hosts.seen.map(({ url }) => url)).toEqual(["/1"]);
  socket.destroy();
});
