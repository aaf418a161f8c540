import {
  auditTime,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  map,
  merge,
  of,
  shareReplay,
  startWith,
  switchMap,
} from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import type { OnLimit } from "../../streams/agent-config.ts";
import type { OverBudget } from "../../streams/agent-graph.ts";
import type { Clock } from "../../streams/clock.ts";
import { nanoOfUsd } from "../../streams/spend/money.ts";
import { usedUpText, waitsForMoneyText } from "../../streams/spend/refusal-text.ts";
import type { UsedUp } from "../../streams/spend/refusal-text.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { UsedBudget } from "../../streams/vocabulary.ts";
import type { BudgetState, RunFunds, SpendMeter } from "../contracts/spend.ts";
import { followFunds } from "./run-funds.ts";

export interface BudgetHoldDeps {
  readonly meter: Pick<SpendMeter, "exhausted" | "spent$" | "refused$" | "raised$">;
  readonly agent: (name: string) => Pick<AgentRecord, "config"> | undefined;
  readonly agents: () => Iterable<Pick<AgentRecord, "name" | "config">>;
  /** Configs of agents or of the project changed. */
  readonly changed$: Observable<unknown>;
  readonly clock: Clock;
  readonly scheduler: SchedulerLike;
}

/** Which agents have no money for a run. */
export interface BudgetHolds {
  /** Null for an agent without a valid config, too. */
  overBudget(agent: string): OverBudget | null;
  /** The budget that is used up, by agent. Emits at once. */
  readonly used$: Observable<ReadonlyMap<string, UsedBudget>>;
  /** Agents with `onLimit = "pause"` that wait for money. Emits at once. */
  readonly waiting$: Observable<ReadonlySet<string>>;
  /** Whether a run can pay its model that was refused a call, until it can or is to stop. Emits at once. */
  funds(run: RefusedRun): Observable<RunFunds>;
}

/** `onLimit` is that of the config by which it was started: its agent may be gone. */
export interface RefusedRun extends Pick<OverBudget, "onLimit"> {
  readonly agent: string;
  readonly instanceId: string;
}

/** Calls of many runs in a row are one reason to look, in ms. */
const quietMs = 200;

export function createBudgetHolds(deps: BudgetHoldDeps): BudgetHolds {
  const { meter, clock, scheduler } = deps;
  const usedBy = ({ name, config }: Pick<AgentRecord, "name" | "config">): UsedBudget | null => {
    const state = config === null ? null : meter.exhausted(name);
    return state === null || config === null ? null : usedBudget(state, config.budget.onLimit);
  };
  const look = (): Observable<ReadonlyMap<string, UsedBudget>> =>
    defer(() => {
      const used = new Map<string, UsedBudget>();
      for (const agent of deps.agents()) {
        const budget = usedBy(agent);
        if (budget !== null) used.set(agent.name, budget);
      }
      const next = Math.min(...[...used.values()].map(({ endsAt }) => endsAt));
      const again$ = next === Infinity ? EMPTY : clock.at(next).pipe(switchMap(look));
      return concat(of(used), again$);
    });
  const fundsOf = ({ agent, instanceId, onLimit }: RefusedRun): RunFunds => {
    const config = deps.agent(agent)?.config;
    if ((config?.budget.onLimit ?? onLimit) === "stop") return { type: "stops" };
    const state = meter.exhausted(agent, instanceId);
    if (state === null) return { type: "paid" };
    return { type: "short", endsAt: state.endsAt, text: waitsForMoneyText(usedUp(state)) };
  };
  const changes$ = merge(
    // At once: what is triggered next must wait already.
    merge(meter.refused$, meter.raised$),
    merge(meter.spent$, deps.changed$).pipe(auditTime(quietMs, scheduler)),
  );
  const used$ = changes$.pipe(
    startWith(null),
    switchMap(look),
    // All agents look at one.
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  return {
    overBudget: (name) => {
      const budget = usedBy({ name, config: deps.agent(name)?.config ?? null });
      return budget && { reason: usedText(budget), onLimit: budget.onLimit };
    },
    used$,
    waiting$: used$.pipe(
      map(waitingIn),
      distinctUntilChanged(isSame),
      shareReplay({ bufferSize: 1, refCount: true }),
    ),
    funds: (run) => followFunds(() => fundsOf(run), changes$, clock),
  };
}

function waitingIn(used: ReadonlyMap<string, UsedBudget>): ReadonlySet<string> {
  const waiting = [...used].filter(([, { onLimit }]) => onLimit === "pause");
  return new Set(waiting.map(([agent]) => agent));
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((agent) => b.has(agent));
}

/** The windows of agents and of the project have an end and a limit; only those of runs lack one. */
function usedBudget(
  { scope, window, endsAt, usd, limit }: BudgetState,
  onLimit: OnLimit,
): UsedBudget {
  return { scope, window, endsAt: endsAt ?? Infinity, usd, limit: limit ?? 0, onLimit };
}

/** For a person: whose budget it is, until when, and what raises it. */
export function usedText({ usd, limit, scope, window, endsAt }: UsedBudget): string {
  return usedUpText(usedUp({ scope, window, endsAt, usd, limit }));
}

function usedUp({ usd, limit, scope, window, endsAt }: Omit<BudgetState, "reserved">): UsedUp {
  return { scope, window, endsAt, spent: nanoOfUsd(usd), cap: nanoOfUsd(limit ?? 0) };
}
