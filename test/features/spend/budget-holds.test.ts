import type { BudgetState, RunSpend } from "../../../src/features/spend/budget-states.ts";
import { momentText } from "../../../src/foundation/contracts/format.ts";
import { NEVER, Subject } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { UsedBudget } from "../../../streams/spending.ts";
import { defaultBudget } from "../../../src/foundation/contracts/budget.ts";
import { createBudgetHolds } from "../../../src/features/spend/budget-holds.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles, type Marbles } from "../../helpers/marbles.ts";

const spent: BudgetState = {
  scope: "agent:dev",
  window: "1970-01-01",
  endsAt: 1_000,
  usd: 5,
  reserved: 0,
  limit: 5,
};

type OnLimits = Readonly<Record<string, AgentConfig["budget"]["onLimit"]>>;

/** Agents by their `onLimit`, and which budget each used up. */
function holdsOf(
  { scheduler }: Marbles,
  onLimits: OnLimits,
  exhausted: (agent: string) => BudgetState | null,
  meter: Partial<Parameters<typeof createBudgetHolds>[0]["meter"]> = {},
) {
  const agents = Object.entries(onLimits).map(([name, onLimit]) => ({
    name,
    config: anAgent(name, { budget: { ...defaultBudget, onLimit } }),
  }));
  return createBudgetHolds({
    meter: {
      exhausted,
      limits: () => [],
      spent$: NEVER,
      refused$: NEVER,
      raised$: NEVER,
      ...meter,
    },
    agent: (name) => agents.find((agent) => agent.name === name),
    agents: () => agents,
    changed$: NEVER,
    clock: createClock(scheduler),
    scheduler,
  });
}

const names = (agents: ReadonlySet<string>) => [...agents].join();

test("agents with onLimit = pause wait until the budget's window ends", () =>
  marbles((helpers) => {
    const { scheduler, flush } = helpers;
    const exhausted = () => (scheduler.now() < 1_000 ? spent : null);
    const { waiting$ } = holdsOf(helpers, { dev: "pause", ops: "stop" }, exhausted);
    const seen: [number, string][] = [];
    waiting$.subscribe((agents) => seen.push([scheduler.now(), names(agents)]));
    scheduler.schedule(() => undefined, 5_000);
    flush();
    expect(seen).toEqual([
      [0, "dev"],
      [1_000, ""],
    ]);
  }));

test.each([
  [
    "raised$",
    "an agent that waits for its raised budget continues at once",
    spent,
    null,
    ["dev", ""],
  ],
  [
    "refused$",
    "the next trigger of an agent whose model call was refused waits for the budget",
    null,
    spent,
    ["", "dev"],
  ],
] as const)("a value of %s means that %s", (name, _, before, after, expected) =>
  marbles((helpers) => {
    let state: BudgetState | null = before;
    const event$ = new Subject<string>();
    const { waiting$ } = holdsOf(helpers, { dev: "pause" }, () => state, { [name]: event$ });
    const seen: string[] = [];
    const subscription = waiting$.subscribe((agents) => seen.push(names(agents)));
    state = after;
    event$.next(name === "raised$" ? "agent:dev" : "dev");
    expect(seen).toEqual(expected);
    subscription.unsubscribe();
  }),
);

test("the reason why work waits names the budget, the end of its day or month, and the command that raises the budget", () =>
  marbles((helpers) => {
    const holds = holdsOf(helpers, { dev: "stop", ops: "pause" }, (agent) =>
      agent === "dev" ? spent : null,
    );
    expect(holds.overBudget("dev")).toEqual({
      onLimit: "stop",
      reason:
        "budget: daily budget used up: $5.00 of $5.00 spent. " +
        `Resets ${momentText(1000)}. To raise it now: al budget raise dev <usd>`,
    });
    expect(holds.overBudget("ops")).toBeNull();
    expect(holds.overBudget("gone")).toBeNull();
  }));

test("a used-up budget is shown for its agent, whether onLimit is pause or stop", () =>
  marbles((helpers) => {
    const { used$ } = holdsOf(helpers, { dev: "stop", ops: "pause", web: "pause" }, (agent) =>
      agent === "web" ? null : spent,
    );
    const { scope, window, endsAt, usd, limit } = spent;
    const budget = { scope, window, endsAt, usd, limit };
    const seen: ReadonlyMap<string, UsedBudget>[] = [];
    used$.subscribe((used) => seen.push(used)).unsubscribe();
    expect(seen).toEqual([
      new Map([
        ["dev", { ...budget, onLimit: "stop" }],
        ["ops", { ...budget, onLimit: "pause" }],
      ]),
    ]);
  }));

test("after a model call the budget of its agent is checked, or those of all agents if the project's limit is used up", () =>
  marbles((helpers) => {
    const { scheduler, flush } = helpers;
    const spent$ = new Subject<RunSpend>();
    let looked: string[] = [];
    let project: BudgetState = { ...spent, scope: "project", usd: 1 };
    const holds = holdsOf(
      helpers,
      { dev: "stop", ops: "stop", web: "stop" },
      (name) => (looked.push(name), name === "ops" ? spent : null),
      { limits: () => [project], spent$ },
    );
    const used: string[][] = [];
    const subscription = holds.used$.subscribe((found) => used.push([...found.keys()]));
    const call = (agent: string) =>
      spent$.next({ instanceId: `${agent}-1`, agent, usd: 1, reservedUsd: 0, turns: 1, tokens: 9 });
    const steps: string[][] = [];
    const step = (at: number, what: () => void) => {
      scheduler.schedule(() => (steps.push(looked), (looked = []), what()), at);
    };
    step(1, () => call("dev"));
    step(300, () => holds.onEvent({ type: "agent-removed", agent: "web", at: 0 }));
    step(600, () => ((project = { ...project, usd: 5 }), call("dev")));
    step(900, () => subscription.unsubscribe());
    flush();
    expect(steps).toEqual([["dev", "ops", "web"], ["dev"], ["web"], ["dev", "ops", "web"]]);
    expect(used).toEqual([["ops"], ["ops"], ["ops"], ["ops"]]);
  }));
