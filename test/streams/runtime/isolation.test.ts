import fc from "fast-check";
import { filter, from, map, merge, mergeMap, of, timer, type Observable } from "rxjs";
import type { AgentChange, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, graphOf } from "../graph.ts";

const start = "2026-05-04T09:00:30Z";
const end = "2026-05-04T09:20:00Z";
const secondMs = 1000;

/** Something that happens to the agent b, so many seconds after the start. */
interface Edit {
  readonly second: number;
  readonly change: AgentChange;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  second: fc.integer({ min: 0, max: 1000 }),
  change: fc.constantFrom(
    changeOf("b"),
    changeOf("B"),
    changeOf("j"),
    changeOf("b", { schedule: "* * * * *", title: "every minute" }),
    changeOf("b", { schedule: "*/2 * * * *", scale: 2, queueSize: 1 }),
    changeOf("b", { scale: 0 }),
  ),
});

/** All events of the agent a, which has a schedule, a queue and long runs, while b is edited. */
function lifeOfA(edits: readonly Edit[]): RunEvent[] {
  const calendar = new VirtualCalendar(start);
  const at = <T>(second: number, value: T): Observable<T> =>
    timer(second * secondMs, calendar).pipe(map(() => value));
  const work = (agent: string, every: number): Observable<WorkItem> =>
    from(Array.from({ length: 20 }, (_, index) => index)).pipe(
      mergeMap((index) => at(index * every, anItem(`${agent}${index}`, agent))),
    );
  const a = changeOf("a", { schedule: "*/5 * * * *", queueSize: 3 });
  const seen: RunEvent[] = [];
  const subscription = graphOf(
    calendar,
    {
      agentChange$: merge(of(a), ...edits.map(({ second, change }) => at(second, change))),
      webhook$: merge(work("a", 20), work("b", 15)),
    },
    {
      runner: timedRunner(calendar, 45 * secondMs),
      newInstanceId: (agent) => agent,
      newId: () => "new",
    },
  )
    .pipe(filter(({ agent }) => agent === "a"))
    .subscribe((event) => seen.push(event));
  calendar.runUntil(end);
  subscription.unsubscribe();
  return seen;
}

test("an agent behaves the same, whatever happens to another", () => {
  const undisturbed = lifeOfA([]);
  const types = new Set(undisturbed.map(({ type }) => type));
  for (const type of ["next-run", "started", "finished", "queued", "refused"] as const) {
    expect(types).toContain(type);
  }
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 20, size: "max" }), (edits) => {
      expect(lifeOfA(edits)).toEqual(undisturbed);
    }),
    { numRuns: 60 },
  );
});
