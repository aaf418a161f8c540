import { EMPTY, map, take, timer, type Observable } from "rxjs";
import { createSlots } from "../../../streams/runs/slots.ts";
import { runAgent, type Kill, type RunPorts } from "../../../streams/runs/run-agent.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles, type Marbles } from "../../helpers/marbles.ts";
import { exitWith } from "../../helpers/stream-runner.ts";
import { graphOf } from "../graph.ts";
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

const portsFor = (
  helpers: Marbles,
  runner: RunPorts["runner"],
  more: Partial<RunPorts> = {},
): RunPorts => portsOf(helpers, EMPTY, { runner, ...more });
const agent = anAgent("dev", { timeoutSeconds: 5 });
const item = anItem("1");
const letters = (event$: Observable<RunEvent>): Observable<string> => event$.pipe(map(letterOf));

test("a run that the machine can't start is started again after 1 s, 2 s, 4 s … and its timeout counts from the start that succeeds", () =>
  marbles((helpers) => {
    const event$ = runAgent(agent, item, portsFor(helpers, machine(helpers, 10_000)));
    const expected = "s b 1000ms b 2000ms b 4000ms b 8000ms 9ms (gS|)";
    helpers.expectObservable(letters(event$)).toBe(expected);
  }));

test("a run that the machine can't start backs off to one attempt a minute", () =>
  marbles((helpers) => {
    const runner = machine(helpers, 3_600_000);
    const event$ = runAgent(agent, item, portsFor(helpers, runner)).pipe(
      map(({ at }) => at),
      take(2 + 63),
    );
    const tries: number[] = [];
    event$.subscribe((at) => tries.push(at));
    helpers.flush();
    expect(runner.starts()).toBeLessThan(68);
    expect(Math.max(...tries.slice(1).map((at, i) => at - (tries[i] ?? 0)))).toBe(60_001);
  }));

test("a run that the machine can't start releases its slot of the project meanwhile", () =>
  marbles((helpers) => {
    const slots = createSlots(1);
    const slot = slots.tryTake();
    const event$ = runAgent(agent, item, portsFor(helpers, machine(helpers, 1000)), slot);
    const other$ = timer(500, helpers.scheduler).pipe(map(() => slots.tryTake() !== null));
    helpers.expectObservable(other$).toBe("500ms (t|)", { t: true });
    // The other one ends never: the run waits for the slot.
    helpers.expectObservable(letters(event$), "3s !").toBe("sb");
  }));

test("a run that the machine can't start can be killed", () =>
  marbles((helpers) => {
    const kill$ = helpers.hot<Kill>("--k", { k: { instanceId: "dev-1" } });
    const event$ = runAgent(agent, item, portsFor(helpers, machine(helpers, 10_000), { kill$ }));
    helpers.expectObservable(letters(event$)).toBe("sb(K|)");
  }));

test("a run that the machine can't start ends when the scheduler stops, without costing its work an attempt", () =>
  marbles((helpers) => {
    const draining$ = helpers.hot("f-t", { f: false, t: true });
    const more = { draining$, isStopping: () => true };
    const event$ = runAgent(agent, item, portsFor(helpers, machine(helpers, 10_000), more));
    const ends$ = event$.pipe(
      map((event) => (event.type === "finished" ? event.end : letterOf(event))),
    );
    const reason = "the scheduler was stopped before the run began; its work waits";
    const end = { outcome: "interrupted", exitCode: 143, reason, usage: null, neverBegan: true };
    helpers.expectObservable(ends$).toBe("sb(e|)", { s: "s", b: "b", e: end });
  }));

test("a run that the machine can't start holds its agent's queue: each item runs once, after the machine can start runs again", () =>
  marbles((helpers) => {
    const manual$ = helpers.hot<WorkItem>("-123", {
      1: anItem("1"),
      2: anItem("2"),
      3: anItem("3"),
    });
    const runner = machine(helpers, 60_000);
    const agentChange$ = helpers.hot("a", {
      a: { type: "set", agent: anAgent("dev"), warnings: [] } as const,
    });
    const seen: string[] = [];
    graphOf(helpers.scheduler, { agentChange$, manual$ }, { runner }).subscribe((event) => {
      if (event.type === "started" || event.type === "finished") {
        seen.push(`${letterOf(event)}${event.item.id}`);
      }
    });
    helpers.scheduler.schedule(() => {
      expect(seen).toEqual(["s1"]);
    }, 59_000);
    helpers.scheduler.schedule(() => {
      expect(seen).toEqual(["s1", "S1", "s2", "S2", "s3", "S3"]);
    }, 130_000);
    helpers.flush();
    expect(seen).toHaveLength(6);
  }));
