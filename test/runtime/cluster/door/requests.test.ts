import {
  inboxAnswerSchema,
  linesAnswerSchema,
  maxLinesBytes,
} from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import type {
  InboxAnswer,
  RemoteLine,
} from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { RunApiError } from "../../../../src/runtime/run-api/protocol.ts";
import { ask, claimA, doorSide, expectRun, tokenOf } from "./support.ts";
import type { AskOptions } from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(doorSide, (side) => side.remove());
const run = perTest(() => expectRun(side(), "dev-1"));
const token = perTest(() => tokenOf(side(), run()));

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
const send = (body: string) =>
  ask(side(), "/remote/lines", { name: run().name, token: token(), body });
const readInbox = (options: Partial<AskOptions> = {}) =>
  ask(side(), "/remote/inbox", { name: run().name, token: token(), method: "GET", ...options });
const never = () => new Promise<never>(() => undefined);
const received = () => side().now.remote.received;
const signals = () => side().now.remote.signals;

describe("lines of a run on another machine", () => {
  test("are passed on in order, and acknowledged", async () => {
    const lines = [line(1), line(2, "größe \u0000 日本"), { ...end, seq: 3 }];
    const { status, body } = await send(ndjson(...lines));
    expect(status).toBe(200);
    expect(linesAnswerSchema.parse(body)).toEqual({ stored: 3, scheduler: "scheduler of 0" });
    expect(received()).toEqual(lines);
  });

  test("may be none: a run shows that it lives", async () =>
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
    ["no JSON", '{"seq":1,"time":5,"stream":"stdout","line":"secret'],
    ["a number of no line", ndjson({ ...line(1), seq: 0, line: "secret" })],
    ["an end without its facts", ndjson(line(1), { seq: 2, time: 5, end: { secret: 1 } })],
  ])("with %s are rejected, all of them, without repeating any", async (_what, body) => {
    const refused = await send(body);
    expect(refused).toMatchObject({ status: 400, body: { error: "malformed" } });
    expect(JSON.stringify(refused)).not.toContain("secret");
    expect([received(), side().problems]).toEqual([[], []]);
  });

  const problem = { error: "unavailable", detail: "The log can't be written now." } as const;

  test.each([
    [
      "that can't be stored now",
      () => void (side().now.remote.lines = () => Promise.reject(new RunApiError(problem))),
    ],
    [
      "that might be dropped, as the logs are behind,",
      () => side().serve({ areLogsBehind: () => true }),
    ],
    ["of a scheduler without remote runs", () => side().serve({ remote: undefined })],
  ])("%s are to be sent again", async (_which, begin) => {
    begin();
    const refused = { status: 503, body: { error: "unavailable" } };
    expect(await send(ndjson(line(1)))).toMatchObject(refused);
    expect(received()).toEqual([]);
  });

  test("with the end are answered with 401 once the run has ended", async () => {
    side().now.remote.onLines = never;
    const answer = send(ndjson(end));
    await expect.poll(() => received().length).toBe(1);
    run().runSocket[Symbol.dispose]();
    expect(await answer).toMatchObject({ status: 401, body: { error: "unauthorized" } });
    expect(await send(ndjson(end))).toMatchObject({ status: 401 });
    expect(received()).toHaveLength(1);
  });

  test("wait for no request of the agent, however many wait", async () => {
    side().now.abilities.answers.wait = never;
    const wait = (n: number) =>
      ask(side(), "/run/wait", {
        name: run().name,
        token: token(),
        body: { kind: "webhook" },
        headers: { "idempotency-key": claimA.replace("7d", n.toString(16).padStart(2, "0")) },
      });
    const waiting = Array.from({ length: 64 }, (_, n) => wait(n));
    await expect.poll(() => side().now.abilities.asked.length).toBe(64);
    expect(await wait(99)).toMatchObject({ status: 429 });
    expect(await send(ndjson(line(1)))).toMatchObject({ status: 200 });
    run().runSocket[Symbol.dispose]();
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  });
});

describe("the inbox of a run on another machine", () => {
  test("answers as soon as it has an entry", async () => {
    const { promise, resolve } = Promise.withResolvers<InboxAnswer>();
    side().now.remote.onInbox = () => promise;
    const waiting = readInbox();
    await expect.poll(() => signals().length).toBe(1);
    const stop = { reason: "killed", graceMs: 5_000 } as const;
    resolve({ stop });
    const { status, body } = await waiting;
    expect([status, inboxAnswerSchema.parse(body)]).toEqual([200, { stop }]);
  });

  test("releases a request whose run disconnected", async () => {
    side().now.remote.onInbox = never;
    const gone = new AbortController();
    const waiting = readInbox({ signal: gone.signal }).catch(() => "gone");
    await expect.poll(() => signals().length).toBe(1);
    gone.abort();
    expect(await waiting).toBe("gone");
    await expect.poll(() => signals()[0]?.aborted).toBe(true);
  });

  test("is closed at once when the run has ended, or the scheduler stops", async () => {
    side().now.remote.onInbox = never;
    const first = readInbox();
    const other = await expectRun(side(), "dev-2");
    const second = readInbox({ name: other.name, token: await tokenOf(side(), other) });
    await expect.poll(() => signals().length).toBe(2);
    run().runSocket[Symbol.dispose]();
    expect(await first).toMatchObject({ status: 401 });
    await side().now.stop();
    expect(await second).toMatchObject({ status: 503, body: { error: "unavailable" } });
  });
});
