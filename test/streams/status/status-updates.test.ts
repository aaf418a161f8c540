import fc from "fast-check";
import { applyUpdate, lockKey } from "../../../src/interfaces/dashboard/live/apply-update.ts";
import { BehaviorSubject, from, map, mergeMap, scan, share, VirtualTimeScheduler } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { initialStatus, reduceStatus, snapshotOf } from "../../../streams/status/reduce-status.ts";
import type { Status, StatusEvent } from "../../../streams/status/reduce-status.ts";
import { statusUpdates } from "../../../streams/status/status-updates.ts";
import type { StatusSnapshot, StatusUpdate } from "../../../streams/status/wire.ts";
import { inVirtualTime, marbles, type Marbles } from "../../helpers/marbles.ts";
import { CountingMap, schedulerStatus } from "./board.ts";
import { claimOf, eventsOf } from "./events.ts";

const reduce = (status: Status, event: StatusEvent): Status =>
  reduceStatus(status, event, () => ({}));

/** `a` and `b` set an agent, `A` and `B` remove it, `l` is a line of a, `s` pauses the scheduler, `0` is nothing. */
const events: Record<string, StatusEvent> = {
  a: eventsOf("a").set(),
  b: eventsOf("b").set(),
  A: eventsOf("a").removed(),
  B: eventsOf("b").removed(),
  l: eventsOf("a").output("hello", "run"),
  s: { type: "scheduler", patch: { paused: true } },
  "0": eventsOf("a").nextRun(null),
};

const status = (event$: Observable<StatusEvent>): Observable<Status> =>
  event$.pipe(scan(reduce, initialStatus(schedulerStatus)));

/** The rows of an update by name, removed ones in capitals, `s` for the scheduler, `l` for each line. */
function textOf({ agents, removed, scheduler, logs }: StatusUpdate): string {
  const rows = (agents ?? []).map(({ name }) => name);
  const gone = (removed ?? []).map((name) => name.toUpperCase());
  const lines = (logs ?? []).map(({ msg }) => (msg === "hello" ? "l" : "."));
  return [...rows, ...gone, ...(scheduler === undefined ? [] : ["s"]), ...lines].join("");
}

function updates({ hot, scheduler }: Marbles, line: string): Observable<string> {
  return statusUpdates(status(hot(line, events)), scheduler).pipe(map(textOf));
}

test.each<[what: string, line: string, expected: string, texts?: Readonly<Record<string, string>>]>(
  [
    [
      "send the first change at once, then the changes of each 100 ms together",
      "s 9ms b 19ms b 99ms b 189ms b",
      "s 99ms X  99ms Y     119ms Z",
      { s: "s", X: "b..", Y: "b.", Z: "b." },
    ],
    ["send the changes of one turn together", "--(sal)", "--X", { X: "as.l" }],
    ["send pending changes when their source completes", "s-s-|", "s---(s|)"],
    ["are silent if nothing changed", "0-0-0-|", "------|"],
    [
      "send a row that was added and removed as removed, and a row that returned unchanged",
      "s-a-A 200ms s-b-B-b",
      "s 99ms X 104ms s 99ms Y",
      { s: "s", X: "A..", Y: "b..." },
    ],
    [
      "send at most twenty lines, the latest, of a burst",
      `s(${"l".repeat(50)})`,
      "s 99ms X",
      { s: "s", X: "l".repeat(20) },
    ],
  ],
)("status updates %s", (_what, line, expected, texts) =>
  marbles((helpers) => helpers.expectObservable(updates(helpers, line)).toBe(expected, texts)),
);

test(
  "status updates name each changed list once",
  inVirtualTime(({ hot, scheduler, expectObservable }) => {
    const list = eventsOf("a");
    const changes = {
      a: { type: "list", list: "audit" },
      q: { type: "scheduler", patch: { alerts: { open: 1, dead: 0 }, questions: 1 } },
      r: list.refused(),
      s: events.s,
      n: list.nextRun(5),
    } as Record<string, StatusEvent>;
    const updates$ = statusUpdates(status(hot("a 200ms s-(aqrra) 100ms s", changes)), scheduler);
    const lists = updates$.pipe(map(({ changed = [] }) => changed.join(" ")));
    const expected = { a: "audit", s: "", x: "audit alerts questions triggers" };
    expectObservable(lists).toBe("a 200ms s 99ms x 99ms s", expected);
  }),
);

test(
  "status updates send current locks, at most fifty at once",
  inVirtualTime(({ hot, scheduler, expectObservable }) => {
    const claims = Array.from({ length: 120 }, (_, index) => claimOf("a", `file:${index}`));
    const held = claims.map((claim) => ({ type: "lock-status" as const, claim }));
    const last = held.slice(110).map((event) => ({ ...event, type: "lock-status-ended" as const }));
    const burst$ = hot("s").pipe(mergeMap(() => from([...held, ...last])));
    const counts = statusUpdates(status(burst$), scheduler).pipe(
      map(({ locks = [], unlocked = [] }) => `${locks.length} ${unlocked.length}`),
    );
    expectObservable(counts).toBe("a 99ms a 99ms c", { a: "50 0", c: "10 10" });
  }),
);

test(
  "status updates read only the changed row of a thousand",
  inVirtualTime(({ cold, scheduler, flush }) => {
    const records = new CountingMap<AgentRecord>();
    let now: Status = { ...initialStatus(schedulerStatus), records };
    for (let index = 0; index < 1_000; index++) now = reduce(now, eventsOf(`${index}`).set());
    const { output, started, finished } = eventsOf("7");
    records.touched = 0;
    now = [started(), output("hello"), finished(), started()].reduce(reduce, now);
    expect(records.touched).toBeLessThanOrEqual(8);
    records.touched = 0;
    const sent: string[] = [];
    const update$ = statusUpdates(cold("e", { e: now }), scheduler);
    update$.subscribe((update) => sent.push(textOf(update)));
    flush();
    expect(sent).toEqual(["7s."]);
    expect(records.touched).toBe(1);
  }),
);

type Events = ReturnType<typeof eventsOf>;

/** What happens to an agent in a random life. */
const happenings = {
  set: (events: Events, n: number) => events.set({ title: `${n}` }),
  invalid: (events: Events) => events.invalid(),
  removed: (events: Events) => events.removed(),
  started: (events: Events) => events.started(),
  finished: (events: Events) => events.finished(),
  nextRun: (events: Events, n: number) => events.nextRun(n === 0 ? null : n),
  depth: (events: Events, n: number) => events.depth(n),
  output: (events: Events, n: number) => events.output(`line ${n}`),
  paused: (_: Events, n: number): StatusEvent => ({ type: "scheduler", patch: { paused: n > 1 } }),
  lock: (_: Events, n: number, agent: string): StatusEvent => ({
    type: "lock-status",
    claim: claimOf(agent, `file:${n}`, n > 1),
  }),
  unlock: (_: Events, n: number, agent: string): StatusEvent => ({
    type: "lock-status-ended",
    claim: claimOf(agent, `file:${n}`),
  }),
} satisfies Record<string, (events: Events, n: number, agent: string) => StatusEvent>;

/** A step of a random life: what happens to which agent, and how long after the step before. */
const step = fc.record({
  agent: fc.constantFrom("a", "b", "c"),
  what: fc.constantFrom(...(Object.keys(happenings) as (keyof typeof happenings)[])),
  n: fc.integer({ min: 0, max: 3 }),
  afterMs: fc.constantFrom(0, 0, 1, 40, 100, 250),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A run that never started does not end. */
const canBe = ({ agent, what }: Step, { records }: Status): boolean =>
  what !== "finished" || (records.get(agent)?.running ?? 0) > 0;

interface Life {
  readonly board: StatusSnapshot;
  /** What a page shows that was there from the start, and one that came in the middle. */
  readonly pages: readonly StatusSnapshot[];
}

/** Lives through the steps in virtual time; a second page connects before step `joinsAt`. */
function live(steps: readonly Step[], joinsAt: number): Life {
  const time = new VirtualTimeScheduler();
  const status$ = new BehaviorSubject(initialStatus(schedulerStatus));
  const update$ = statusUpdates(status$, time).pipe(share());
  const pages: StatusSnapshot[] = [];
  const connect = (): void => {
    const page = pages.push(snapshotOf(status$.value)) - 1;
    update$.subscribe((update) => {
      pages[page] = applyUpdate(pages[page] ?? snapshotOf(status$.value), update);
    });
  };
  connect();
  let at = 0;
  for (const [index, step] of steps.entries()) {
    at += step.afterMs;
    time.schedule(() => {
      if (index === joinsAt) connect();
      const { agent, what, n } = step;
      if (!canBe(step, status$.value)) return;
      status$.next(reduce(status$.value, happenings[what](eventsOf(agent, n), n, agent)));
    }, at);
  }
  time.flush();
  return { board: snapshotOf(status$.value), pages };
}

/** A page puts rows in order only where it shows them. */
const sorted = ({ agents, locks, ...rest }: StatusSnapshot) => ({
  ...rest,
  agents: agents.toSorted((a, b) => a.name.localeCompare(b.name)),
  locks: locks.toSorted((a, b) => lockKey(a).localeCompare(lockKey(b))),
});

const lives = [fc.array(step, { maxLength: 60, size: "max" }), fc.nat(60)] as const;

test("a page that applies status updates to its snapshot always shows the same as a fresh snapshot", () =>
  fc.assert(
    fc.property(...lives, (steps, joinsAt) => {
      const { board, pages } = live(steps, joinsAt);
      for (const page of pages) expect(sorted(page)).toEqual(sorted(board));
      const { scheduler, agents } = board;
      const running = agents.reduce((sum, agent) => sum + agent.running, 0);
      const due = agents.filter(({ nextRunAt }) => nextRunAt !== null).length;
      expect([scheduler.running, scheduler.cronJobs]).toEqual([running, due]);
      expect(agents.every((agent) => agent.running >= 0)).toBe(true);
    }),
    { numRuns: 500 },
  ));
