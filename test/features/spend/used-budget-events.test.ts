import { Subject } from "rxjs";
import { usedBudgetEvents } from "../../../src/features/spend/used-budget-events.ts";
import type { UsedBudget } from "../../../streams/spending.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";

const used: UsedBudget = {
  scope: "agent:dev",
  window: "2026-11-22",
  endsAt: Date.parse("2026-11-23T00:00:00Z"),
  usd: 5,
  limit: 5,
  onLimit: "pause",
};

function follow(hasAgent: (name: string) => boolean = () => true) {
  const used$ = new Subject<ReadonlyMap<string, UsedBudget>>();
  const events: RunEvent[] = [];
  usedBudgetEvents({ used$, hasAgent, now: () => 0 }).subscribe((event) => events.push(event));
  const texts = () => events.map((event) => (event.type === "used-budget" ? event.text : ""));
  return { used$, events, texts };
}

test("an agent's budget emits an event when it is used up and when it is available again", () => {
  const { used$, events, texts } = follow();
  used$.next(new Map());
  used$.next(new Map([["dev", used]]));
  used$.next(new Map([["dev", { ...used, usd: 5.1 }]]));
  used$.next(new Map([["dev", { ...used, onLimit: "stop" }]]));
  used$.next(new Map());
  expect(events[0]).toMatchObject({ type: "used-budget", agent: "dev", at: 0, budget: used });
  expect(events.at(-1)).toMatchObject({ budget: null });
  expect(texts()).toEqual([
    expect.stringMatching(/^work waits: budget: daily budget used up/) as string,
    expect.stringMatching(/^work is refused: budget: daily budget used up/) as string,
    "its budget can pay calls to models again",
  ]);
});

test("the used-up budget of a removed agent emits no event", () => {
  const { used$, events } = follow((name) => name !== "dev");
  used$.next(new Map([["dev", used]]));
  used$.next(new Map());
  expect(events).toEqual([]);
});
