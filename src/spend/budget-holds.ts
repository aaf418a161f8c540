import {
  auditTime,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  merge,
  of,
  shareReplay,
  startWith,
  switchMap,
} from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import type { OverBudget } from "../../streams/agent-graph.ts";
import type { Clock } from "../../streams/clock.ts";
import { nanoOfUsd } from "../../streams/spend/money.ts";
import { usedUpText } from "../../streams/spend/refusal-text.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { BudgetState, SpendMeter } from "../contracts/spend.ts";

export interface BudgetHoldDeps {
  readonly meter: Pick<SpendMeter, "exhausted" | "spent$" | "raised$">;
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
  /** Agents with `onLimit = "pause"` that wait for money. Emits at once. */
  readonly waiting$: Observable<ReadonlySet<string>>;
}

/** Calls of many runs in a row are one reason to look, in ms. */
const quietMs = 200;

export function createBudgetHolds(deps: BudgetHoldDeps): BudgetHolds {
  const { meter, clock, scheduler } = deps;
  const over = ({ name, config }: Pick<AgentRecord, "name" | "config">) => {
    const state = config === null ? null : meter.exhausted(name);
    return state === null || config === null ? null : { state, onLimit: config.budget.onLimit };
  };
  const look = (): Observable<ReadonlySet<string>> =>
    defer(() => {
      const waiting = new Map<string, BudgetState>();
      for (const { name, config } of deps.agents()) {
        const state = config?.budget.onLimit === "pause" ? meter.exhausted(name) : null;
        if (state !== null) waiting.set(name, state);
      }
      const turns = [...waiting.values()].map(({ endsAt }) => endsAt ?? Infinity);
      const next = Math.min(...turns);
      const again$ = next === Infinity ? EMPTY : clock.at(next).pipe(switchMap(look));
      return concat(of(new Set(waiting.keys())), again$);
    });
  const changes$ = merge(
    meter.raised$,
    merge(meter.spent$, deps.changed$).pipe(auditTime(quietMs, scheduler)),
  );
  return {
    overBudget: (name) => {
      const found = over({ name, config: deps.agent(name)?.config ?? null });
      return found && { reason: reasonOf(found.state), onLimit: found.onLimit };
    },
    waiting$: changes$.pipe(
      startWith(null),
      switchMap(look),
      distinctUntilChanged(isSame),
      // All agents look at one.
      shareReplay({ bufferSize: 1, refCount: true }),
    ),
  };
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((agent) => b.has(agent));
}

function reasonOf({ usd, limit, scope, window, endsAt }: BudgetState): string {
  const [spent, cap] = [nanoOfUsd(usd), nanoOfUsd(limit ?? 0)];
  return usedUpText({ scope, window, endsAt, spent, cap });
}
