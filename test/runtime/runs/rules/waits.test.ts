import type { Wait, Occurrence } from "../../../../src/foundation/contracts/run-state.ts";
import { Observable } from "rxjs";
import { createClock } from "../../../../streams/clock.ts";
import { drive } from "../../../../src/foundation/drive.ts";
import { createWaits } from "../../../../src/runtime/runs/rules/waits.ts";
import type { Match, WaitCommand, WaitEvent } from "../../../../src/runtime/runs/rules/waits.ts";
import { marbles, type Marbles } from "../../../helpers/marbles.ts";

/** What is done with the waits: a command, or an occurrence that is matched and named by its id. */
type Step =
  | Extract<WaitCommand<Wait>, { type: "wait" | "cancel" | "ended" }>
  | { readonly type: "match"; readonly id: string; readonly occurrence: Occurrence }
  | { readonly type: "delivered" | "not-delivered"; readonly id: string };

function aWait(key: string, more: Partial<Wait> = {}): Step {
  const agent = key.charAt(0);
  const condition = { kind: "webhook", source: "gh" } as const;
  const wait = { key, instanceId: `${agent}-1`, agent, condition, since: 0, until: 100, ...more };
  return { type: "wait", wait };
}

function match(id: string, more: Partial<Occurrence> = {}): Step {
  const occurrence = { kind: "webhook", agent: null, source: "gh", event: "push", payload: {} };
  return { type: "match", id, occurrence: { ...occurrence, ...more } as Occurrence };
}

const commands: Record<string, Step> = {
  a: aWait("a1"),
  A: aWait("a2", { instanceId: "a-2" }),
  b: aWait("b1"),
  c: aWait("a3", { condition: { kind: "agent-call" } }),
  s: aWait("a1", { until: 6 }),
  x: { type: "cancel", key: "a1" },
  e: { type: "ended", instanceId: "a-1" },
  o: match("o"),
  p: match("p"),
  q: match("q", { source: "lab" }),
  d: match("d", { kind: "agent-call", agent: "a", source: "ops" }),
  D: match("d", { kind: "agent-call", agent: "b", source: "ops" }),
  t: { type: "delivered", id: "o" },
  u: { type: "delivered", id: "p" },
  T: { type: "delivered", id: "d" },
  n: { type: "not-delivered", id: "o" },
};

const said = {
  a: "a1 waiting",
  A: "a2 waiting",
  b: "b1 waiting",
  c: "a3 waiting",
  x: "a1 timed-out",
  n: "o to ",
  o: "o to a1",
  O: "o to a1,b1",
  B: "o to a2",
  p: "p to a2",
  P: "p to ",
  Q: "p to a1",
  q: "q to ",
  d: "d to a3",
  D: "d to ",
  m: "a1 met by o",
  M: "b1 met by o",
  "2": "a2 met by p",
  "3": "a3 met by d",
};

/** As `driven` does, and names each match. */
function waited(step$: Observable<Step>, scheduler: Marbles["scheduler"]): Observable<string> {
  return new Observable((subscriber) => {
    const waits = createWaits<Wait>();
    const matches = new Map<string, Match<Wait> | null>();
    const wordsOf = (event: WaitEvent<Wait>): string => {
      const { key } = event.wait;
      if (event.type !== "met") return `${key} ${event.type}`;
      return `${key} met by ${[...matches].find(([, one]) => one === event.match)?.[0]}`;
    };
    const driver = drive(waits, createClock(scheduler), (event) => subscriber.next(wordsOf(event)));
    const take = (step: Step): void => {
      if (step.type === "match") {
        const found = waits.match(step.occurrence, () => ({}));
        matches.set(step.id, found);
        subscriber.next(`${step.id} to ${found?.waits.map(({ key }) => key).join() ?? ""}`);
      } else if ("id" in step) {
        const match = matches.get(step.id) ?? { waits: [], trigger: {} };
        driver.apply({ type: step.type, match });
      } else {
        driver.apply(step);
      }
    };
    subscriber.add(step$.subscribe(take));
    subscriber.add(() => driver.stop());
  });
}

test.each([
  ["ends with a matching trigger, once that is delivered", "   -a-o--t", "-a-o--m"],
  ["ignores other triggers", "                                 -a-q-D-", "-a-q-D-"],
  ["is offered a trigger before a later wait of the same agent", "  -aA-otpu", "-aA-omp2"],
  ["ends with a trigger that another agent's wait also gets", " -ab-ot", "-ab-O(mM)"],
  ["continues when a matching trigger is not delivered", "            -aA-on-p", "-aA-o--Q"],
  ["for calls ends with a call of the waiting agent", "            -c-dT", "-c-d3"],
  ["ends at its timeout", "                                    -s-----o", "-a----xn"],
  ["times out after a delivery that failed", "                 -s--o----n", "-a--o----x"],
  ["is not offered a trigger once its run has ended", "        -aAe-o", "-aA--B"],
  ["is over if its run ends during a delivery that fails", "   -a-oen-p", "-a-o---P"],
  ["is over if it is cancelled during a delivery that fails", "-a-oxn-p", "-a-o---P"],
])("a wait for a trigger %s", (_what, line, expected) =>
  marbles(({ hot, scheduler, expectObservable }) =>
    expectObservable(waited(hot(line, commands), scheduler), "20ms !").toBe(expected, said),
  ),
);
