import {
  inboxAnswerSchema,
  linesAnswerSchema,
  maxLinesBytes,
} from "../../../../src/runtime/wire/remote-protocol.ts";
import type { InboxAnswer, RemoteLine } from "../../../../src/runtime/wire/remote-protocol.ts";
import { refusal } from "../../../../src/runtime/wire/protocol.ts";
import { aDoor, claimA } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const { side, run, ask, tokenOf, ...door } = aDoor();
const token = perTest(() => tokenOf());

const line = (seq: number, text = "x"): RemoteLine => ({
  seq,
  time: 5,
  stream: "stdout",
  line: text,
});
const end: RemoteLine = {
  seq: 1,
  time: 6,
  end: { exitCode: 0, signal: null, outOfMemory: false, rejected: null },
};
const ndjson = (...lines: readonly unknown[]) =>
  lines.map((each) => `${JSON.stringify(each)}\n`).join("");
const send = (body: string) => ask("/remote/lines", { token: token(), body });
const readInbox = (options: Parameters<typeof ask>[1] = {}) =>
  ask("/remote/inbox", { token: token(), method: "GET", ...options });
const never = () => new Promise<never>(() => undefined);
const remote = () => side().now.remote;
const received = () => remote().received;
const signals = () => remote().signals;
const unavailable = { status: 503, body: { error: "unavailable" } };

describe("lines of a run on another machine", () => {
  test("are passed on in order, and acknowledged", async () => {
    const lines = [line(1), line(2, "größe \u0000 日本"), { ...end, seq: 3 }];
    const { status, body } = await send(ndjson(...lines));
    expect(status).toBe(200);
    expect(linesAnswerSchema.parse(body)).toEqual({ stored: 3, scheduler: "scheduler of 0" });
    expect(received()).toEqual(lines);
  });

  test("may be none, as a heartbeat", async () =>
    expect(await send("")).toMatchObject({ status: 200, body: { stored: 0 } }));

  test("may be as many as a request holds, and no more", async () => {
    const text = "y".repeat(maxLinesBytes / 8 - 100);
    const most = Array.from({ length: 8 }, (_, i) => line(i + 1, text));
    expect(await send(ndjson(...most))).toMatchObject({ status: 200, body: { stored: 8 } });
    const tooMany = await send(ndjson(...most, line(9, "y".repeat(2_000)))).catch(
      (error: unknown) => error,
    );
    // A client that still sends may meet a closed connection first.
    if (!(tooMany instanceof Error)) expect(tooMany).toMatchObject({ status: 400 });
    expect(received()).toHaveLength(8);
  });

  test.each([
    ["invalid JSON", '{"seq":1,"time":5,"stream":"stdout","line":"secret'],
    ["the number 0", ndjson({ ...line(1), seq: 0, line: "secret" })],
    ["an incomplete end", ndjson(line(1), { seq: 2, time: 5, end: { secret: 1 } })],
  ])("with %s are rejected, all of them, without repeating any", async (_what, body) => {
    const refused = await send(body);
    expect(refused).toMatchObject({ status: 400, body: { error: "malformed" } });
    expect(JSON.stringify(refused)).not.toContain("secret");
    expect([received(), side().problems]).toEqual([[], []]);
  });

  test.each([
    [
      "that can't be stored now",
      () =>
        void (remote().lines = () =>
          Promise.reject(refusal("unavailable", "The log can't be written now."))),
    ],
    [
      "that might be dropped, as the logs are behind,",
      () => side().serve({ areLogsBehind: () => true }),
    ],
    ["to a scheduler without remote runs", () => side().serve({ remote: undefined })],
  ])("%s are rejected with 503, to be sent again", async (_which, begin) => {
    begin();
    expect(await send(ndjson(line(1)))).toMatchObject(unavailable);
    expect(received()).toEqual([]);
  });

  test("are answered with 401 once the run has ended", async () => {
    remote().onLines = never;
    const answer = send(ndjson(end));
    await expect.poll(received).toHaveLength(1);
    run().runSocket[Symbol.dispose]();
    expect(await answer).toMatchObject({ status: 401, body: { error: "unauthorized" } });
    expect(await send(ndjson(end))).toMatchObject({ status: 401 });
    expect(received()).toHaveLength(1);
  });

  test("are accepted while the maximum of the agent's requests waits", async () => {
    const { abilities } = side().now;
    abilities.answers.wait = never;
    const wait = async (n: number) => {
      const key = claimA.replace("7d", n.toString(16).padStart(2, "0"));
      const headers = { "idempotency-key": key };
      const body = { kind: "webhook" };
      return (await ask("/run/wait", { token: token(), body, headers })).status;
    };
    const waiting = Array.from({ length: 64 }, (_, n) => wait(n));
    await expect.poll(() => abilities.asked).toHaveLength(64);
    expect(await wait(99)).toBe(429);
    expect(await send(ndjson(line(1)))).toMatchObject({ status: 200 });
    run().runSocket[Symbol.dispose]();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([401]));
  });
});

describe("the inbox of a run on another machine", () => {
  test("answers as soon as it has an entry", async () => {
    const { promise, resolve } = Promise.withResolvers<InboxAnswer>();
    remote().onInbox = () => promise;
    const waiting = readInbox();
    await expect.poll(signals).toHaveLength(1);
    const stop = { reason: "killed", graceMs: 5_000 } as const;
    resolve({ stop });
    const { status, body } = await waiting;
    expect([status, inboxAnswerSchema.parse(body)]).toEqual([200, { stop }]);
  });

  test("releases a request whose run disconnected", async () => {
    remote().onInbox = never;
    const gone = new AbortController();
    const waiting = readInbox({ signal: gone.signal }).catch(() => "gone");
    await expect.poll(signals).toHaveLength(1);
    gone.abort();
    expect(await waiting).toBe("gone");
    await expect.poll(() => signals()[0]?.aborted).toBe(true);
  });

  test("is closed at once when the run has ended, or the scheduler stops", async () => {
    remote().onInbox = never;
    const first = readInbox();
    const other = await door.expectRun("dev-2");
    const second = readInbox({ name: other.name, token: await tokenOf(other) });
    await expect.poll(signals).toHaveLength(2);
    run().runSocket[Symbol.dispose]();
    expect(await first).toMatchObject({ status: 401 });
    await side().now.stop();
    expect(await second).toMatchObject(unavailable);
  });
});
