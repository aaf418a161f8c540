import type { HeldLock } from "../../../../src/foundation/contracts/run-state.ts";
import { map } from "rxjs";
import type * as events from "../../../../src/runtime/runs/rules/locks.ts";
import { createLocks, maxLocksOfRun } from "../../../../src/runtime/runs/rules/locks.ts";
import { createWaitGraph, type WaitGraph } from "../../../../src/runtime/runs/rules/wait-graph.ts";
import { inVirtualTime, marbles, type Marbles } from "../../../helpers/marbles.ts";
import { driven } from "./driven.ts";

type LockCommand = events.LockCommand<string>;
type LockEvent = events.LockEvent<string>;

const x = "file:x";

function acquire(
  instanceId: string,
  more: Partial<Extract<LockCommand, { type: "acquire" }>> = {},
): LockCommand {
  const agent = instanceId.charAt(0);
  const own = { request: instanceId, resource: x, agent, instanceId };
  return { type: "acquire", ...own, ttlMs: 100, waitMs: 50, ...more };
}

const release = { type: "release", request: "r", resource: x, instanceId: "a-1" } as const;

/** What runs ask of x. */
const commands: Record<string, LockCommand> = {
  a: acquire("a-1"),
  b: acquire("b-1"),
  B: acquire("b-1", { request: "b-1 again" }),
  c: acquire("c-1"),
  i: acquire("b-1", { waitMs: 0 }),
  s: acquire("a-1", { ttlMs: 5 }),
  w: acquire("b-1", { waitMs: 3 }),
  "1": release,
  "2": { ...release, instanceId: "b-1" },
  h: { type: "heartbeat", request: "h", resource: x, instanceId: "a-1", ttlMs: 8 },
  H: { type: "heartbeat", request: "h", resource: x, instanceId: "b-1", ttlMs: 8 },
  x: { type: "cancel", request: "b-1" },
  e: { type: "ended", instanceId: "a-1" },
  f: { type: "ended", instanceId: "b-1" },
};

/** `g a-1 1` granted to whom with which token, `r` released, `w` waits, `h` held … and so on, as words. */
function words(event: LockEvent): string {
  switch (event.type) {
    case "granted":
    case "extended":
      return `${event.type} ${event.lock.instanceId} ${event.lock.fencingToken}`;
    case "released":
      return `${event.why} ${event.lock.instanceId}`;
    case "waiting":
      return `${event.request} waits`;
    case "refused":
      return event.why === "deadlock" ? `deadlock ${event.path.join(">")}` : event.why;
  }
}

interface Given {
  readonly held?: readonly HeldLock[];
  readonly graph?: WaitGraph;
  readonly values?: Readonly<Record<string, string>>;
}

/** Expects these events of the locks, as words. */
function expectWords(
  { hot, scheduler, expectObservable }: Marbles,
  line: string,
  expected: string,
  { held = [], graph = createWaitGraph(), values = {} }: Given = {},
): void {
  const create = () => createLocks<string>({ graph, held, lastToken: 0 });
  const event$ = driven(hot(line, commands), create, scheduler).pipe(map(words));
  expectObservable(event$, "20ms !").toBe(expected, { ...said, ...values });
}

const said = {
  a: "granted a-1 1",
  b: "granted b-1 2",
  c: "granted c-1 3",
  w: "b-1 waits",
  W: "c-1 waits",
  B: "b-1 again waits",
  r: "released a-1",
  R: "released b-1",
  x: "expired a-1",
  e: "ended a-1",
  E: "extended a-1 1",
  h: "held",
  t: "wait_timeout",
  n: "not_holder",
  d: "deadlock c-1>a-1>c-1",
};

test.each([
  ["is refused to others while a run holds it", "          -a--i", "-a--h"],
  ["is granted to its holder again with the same token", " -a--a", "-a--a"],
  ["is granted to waiting runs in the order of requests", "-abc-1----2", "-awW-(rb)-(Rc)"],
  ["is refused to a run whose wait for it times out", "           -a-w---1", "-a-w--tr"],
  ["is granted to all requests of a waiting run at once", "-abB1", "-awB(rbb)"],
  ["is not taken from its holder when an earlier one would expire", "-s1b------", "-arb"],
  ["is granted to the next run when it expires", "         -s-b", "-a-w--(xb)"],
  ["is extended by a heartbeat", "                         -s--h---b", "-a--E---w---(xb)"],
  ["can't be extended or released by another run", "       -a-H-2", "-a-n-n"],
  ["can't be released after it expired", "                 -s------1", "-a----x-n"],
  ["is granted to the next run when its holder ends", "    -ab-e", "-aw-(eb)"],
  ["is not granted to a run that cancelled its request", " -abcx1", "-awW-(rc)"],
  ["is not granted to a run that ended while it waited", " -abcf1", "-awW-(rc)"],
])("a lock %s", (_what, line, expected) =>
  marbles((helpers) => {
    // Who gave up never had a token.
    const values = line.match(/[xf]1/) ? { c: "granted c-1 2" } : {};
    expectWords(helpers, line, expected, { values });
  }),
);

test(
  "a lock request that would close a cycle with another kind of wait is rejected",
  inVirtualTime((helpers) => {
    const graph = createWaitGraph();
    // The holder waits for an answer of c, which asks for what it holds.
    graph.add("a-1", () => ["c-1"]);
    expectWords(helpers, "-a-c", "-a-d", { graph });
  }),
);

test.each(["cancelled", "ended"])(
  "a run that %s while it waited for a lock leaves no wait in the graph",
  (how) => {
    const graph = createWaitGraph();
    marbles((helpers) => {
      expectWords(helpers, how === "ended" ? "-ab--f" : "-ab--x", "-aw", { graph });
      const waits$ = helpers.cold("---1--2").pipe(map(() => graph.cycle("a-1", () => ["b-1"])));
      const values = { t: ["a-1", "b-1", "a-1"], f: null };
      helpers.expectObservable(waits$).toBe("---t--f", values);
    });
  },
);

test("a run's 101st lock is rejected until the run releases one", () => {
  const one = (n: number, request = `${n}`) => acquire("a-1", { request, resource: `file:${n}` });
  const many = Array.from({ length: maxLocksOfRun }, (_, n) => one(n));
  const last = one(maxLocksOfRun);
  const free: LockCommand = { ...release, resource: "file:0" };
  const other = acquire("b-1", { resource: "file:more" });
  const locks = createLocks<string>({ graph: createWaitGraph(), held: [], lastToken: 0 });
  for (const command of many) locks.apply(command, 0);
  const all = [last, one(0, "0 again"), last, other, free, last];
  expect(all.flatMap((command) => locks.apply(command, 0)).map(words)).toEqual([
    "too_many_locks",
    "granted a-1 1",
    "too_many_locks",
    `granted b-1 ${maxLocksOfRun + 1}`,
    "released a-1",
    `granted a-1 ${maxLocksOfRun + 2}`,
  ]);
});

const owner = { resource: x, agent: "a", instanceId: "a-1" };

test(
  "locks restored after a restart are held until they expire",
  inVirtualTime((helpers) => {
    const held = [{ ...owner, fencingToken: 1, heldSince: 0, expiresAt: 6 }];
    expectWords(helpers, "--b", "--w---(xb)", { held, values: { b: "granted b-1 1" } });
  }),
);
