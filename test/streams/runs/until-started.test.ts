import { EMPTY, map, take, timer, type Observable } from "rxjs";
import { createSlots, type Slot } from "../../../streams/runs/slots.ts";
import { runAgent, type Kill, type RunPorts } from "../../../streams/runs/run-agent.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { inVirtualTime, type Marbles } from "../../helpers/marbles.ts";
import { exitWith } from "../../helpers/stream-runner.ts";
import { shows } from "../graph.ts";
import { letterOf, portsOf } from "./run-ports.ts";

const full = "no space left on the disk of /tmp/al-runs";
const blocked = exitWith({ exitCode: null, rejected: full, blocked: true });

/** A machine that can start runs from `freeAt` on, in ms: a start takes 1 ms, a run 10 ms. */
function machine({ scheduler }: Marbles, freeAt: number) {
  let starts = 0;
  return {
    starts: () => starts,
    run: () => {
      starts += 1;
      const isFull = scheduler.now() < freeAt;
      return timer(isFull ? 1 : 10, scheduler).pipe(map(() => (isFull ? blocked : exitWith())));
    },
  };
}

const agent = anAgent("dev", { timeoutSeconds: 5 });
const item = anItem("1");
const letters = (event$: Observable<RunEvent>): Observable<string> => event$.pipe(map(letterOf));

/** The events of a run on a machine that can start runs from `freeAt` on. */
const runOn = (
  helpers: Marbles,
  freeAt: number,
  more: Partial<RunPorts> = {},
  slot?: Slot | null,
) =>
  runAgent(
    agent,
    item,
    portsOf(helpers, EMPTY, { runner: machine(helpers, freeAt), ...more }),
    slot,
  );

describe("a run that the machine can't start", () => {
  test(
    "is started again after 1 s, 2 s, 4 s … and its timeout counts from the start that succeeds",
    inVirtualTime((helpers) => {
      const expected = "s b 1000ms b 2000ms b 4000ms b 8000ms 9ms (gS|)";
      helpers.expectObservable(letters(runOn(helpers, 10_000))).toBe(expected);
    }),
  );

  test(
    "is retried at most once a minute",
    inVirtualTime((helpers) => {
      const runner = machine(helpers, 3_600_000);
      const tries: number[] = [];
      runOn(helpers, 0, { runner })
        .pipe(take(2 + 63))
        .subscribe(({ at }) => tries.push(at));
      helpers.flush();
      expect(runner.starts()).toBeLessThan(68);
      expect(Math.max(...tries.slice(1).map((at, i) => at - (tries[i] ?? 0)))).toBe(60_001);
    }),
  );

  test(
    "releases its slot of the project meanwhile",
    inVirtualTime((helpers) => {
      const slots = createSlots(1);
      const slot = slots.tryTake();
      const event$ = runOn(helpers, 1000, {}, slot);
      const other$ = timer(500, helpers.scheduler).pipe(map(() => slots.tryTake() !== null));
      helpers.expectObservable(other$).toBe("500ms (t|)", { t: true });
      // The other one ends never: the run waits for the slot.
      helpers.expectObservable(letters(event$), "3s !").toBe("sb");
    }),
  );

  test(
    "can be killed",
    inVirtualTime((helpers) => {
      const kill$ = helpers.hot<Kill>("--k", { k: { instanceId: "dev-1" } });
      helpers.expectObservable(letters(runOn(helpers, 10_000, { kill$ }))).toBe("sb(K|)");
    }),
  );

  test(
    "ends when the scheduler stops, without counting as an attempt",
    inVirtualTime((helpers) => {
      const draining$ = helpers.hot("f-t", { f: false, t: true });
      const more = { draining$, isStopping: () => true };
      const ends$ = runOn(helpers, 10_000, more).pipe(
        map((event) => (event.type === "finished" ? event.end : letterOf(event))),
      );
      const reason = "the scheduler was stopped before the run began; its work waits";
      const end = { outcome: "interrupted", exitCode: 143, reason, usage: null, neverBegan: true };
      helpers.expectObservable(ends$).toBe("sb(e|)", { s: "s", b: "b", e: end });
    }),
  );

  test("holds its agent's queue: each item runs once, after the machine can start runs again", () =>
    shows(
      {
        changes: "a",
        manual: "  -123",
        started: " -1 63015ms 2 9ms 3",
        finished: "-- 63015ms 1 9ms 2 9ms 3",
      },
      { ports: (helpers) => ({ runner: machine(helpers, 60_000) }) },
    ));
});
