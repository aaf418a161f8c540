import type { BudgetState } from "./budget-states.ts";
import type { SpendMeter } from "./meter.ts";
import {
  auditTime,
  BehaviorSubject,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  shareReplay,
  Subject,
  switchMap,
  tap,
} from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import type { OnLimit } from "../../../streams/agent-config.ts";
import type { OverBudget } from "../../../streams/agent-graph.ts";
import type { Clock } from "../../../streams/clock.ts";
import { nanoOfUsd } from "../../foundation/contracts/money.ts";
import type { UsedUp } from "../../foundation/contracts/budget.ts";
import { notStartedText, waitsForMoneyText } from "./refusals.ts";
import type { ConfiguredAgent } from "../../../streams/status/agent-record.ts";
import type { UsedBudget } from "../../../streams/spending.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { unlessUnreadable } from "../../foundation/store/store-error.ts";
import { followFunds, type RunFunds } from "./run-funds.ts";

export interface BudgetHoldDeps {
  readonly meter: Pick<SpendMeter, "exhausted" | "limits" | "spent$" | "refused$" | "raised$">;
  readonly agent: (name: string) => ConfiguredAgent | undefined;
  readonly agents: () => Iterable<ConfiguredAgent>;
  /** The project's config changed. */
  readonly changed$: Observable<unknown>;
  readonly clock: Clock;
  readonly scheduler: SchedulerLike;
}

/** Which agents have no money for a run. */
export interface BudgetHolds {
  /** Takes note of agents whose config changed. */
  readonly onEvent: (event: RunEvent) => void;
  /** The used-up budget of an agent; null without one, and without a valid config. */
  readonly overBudget: (agent: string) => OverBudget | null;
  /** The budget that is used up, by agent. Emits at once. */
  readonly used$: Observable<ReadonlyMap<string, UsedBudget>>;
  /** Agents with `onLimit = "pause"` that wait for money. Emits at once. */
  readonly waiting$: Observable<ReadonlySet<string>>;
  /** Whether a run whose call was rejected can pay its model now, until it can or is to stop. Emits at once. */
  funds(run: RefusedRun): Observable<RunFunds>;
}

/** `onLimit` is from the config that started the run: its agent may be gone. */
export interface RefusedRun {
  readonly onLimit: OverBudget["onLimit"];
  readonly agent: string;
  readonly instanceId: string;
}

/** Delay that merges the checks for many calls in a row, in ms. */
const quietMs = 200;

export function createBudgetHolds(deps: BudgetHoldDeps): BudgetHolds {
  const { meter, clock, scheduler } = deps;
  const usedBy = ({ name, config }: ConfiguredAgent): UsedBudget | null => {
    // Without a store every call is refused, so no money is spent.
    const state = config && unlessUnreadable(() => meter.exhausted(name), null);
    return state === null || config === null ? null : usedBudget(state, config.budget.onLimit);
  };
  const lookAtAll = (isProjectSpent: boolean): Found => {
    const used = new Map<string, UsedBudget>();
    for (const agent of deps.agents()) {
      const budget = usedBy(agent);
      if (budget !== null) used.set(agent.name, budget);
    }
    return { used, isProjectSpent };
  };
  const lookAtSome = (before: Found, names: ReadonlySet<string>): Found => {
    const used = new Map(before.used);
    for (const name of names) {
      const budget = usedBy({ name, config: deps.agent(name)?.config ?? null });
      if (budget === null) used.delete(name);
      else used.set(name, budget);
    }
    return { ...before, used };
  };
  const look = (before: Found | null, names: Changed): Found => {
    const wasSpent = before?.isProjectSpent ?? false;
    const isProjectSpent = unlessUnreadable(() => meter.limits([]).some(isSpent), wasSpent);
    const isShared = before === null || names === null || before.isProjectSpent !== isProjectSpent;
    return isShared ? lookAtAll(isProjectSpent) : lookAtSome(before, names);
  };
  /** All agents are checked when the first window with a used-up budget ends. */
  const windowEnds = ({ used }: Found): Observable<Changed> => {
    const next = Math.min(...[...used.values()].map(({ endsAt }) => endsAt));
    return next === Infinity ? EMPTY : clock.at(next).pipe(map(() => null));
  };
  const fundsOf = ({ agent, instanceId, onLimit }: RefusedRun): RunFunds => {
    const config = deps.agent(agent)?.config;
    if ((config?.budget.onLimit ?? onLimit) === "stop") return { type: "stops" };
    const state = meter.exhausted(agent, instanceId);
    if (state === null) return { type: "paid" };
    return { type: "short", endsAt: state.endsAt, text: waitsForMoneyText(usedUp(state)) };
  };
  const edited$ = new Subject<string>();
  const spent$ = meter.spent$.pipe(map(({ agent }) => agent));
  const changes$: Observable<Changed> = merge(
    // Applied without delay: the next trigger must already wait.
    merge(meter.refused$, meter.raised$).pipe(map(() => null)),
    deps.changed$.pipe(
      auditTime(quietMs, scheduler),
      map(() => null),
    ),
    gathered(merge(spent$, edited$), scheduler),
  );
  const used$ = defer(() => {
    const found$ = new BehaviorSubject<Found>(look(null, null));
    const ends$ = found$.pipe(switchMap(windowEnds));
    return merge(
      found$,
      merge(changes$, ends$).pipe(
        tap((names) => found$.next(look(found$.value, names))),
        ignoreElements(),
      ),
    );
  }).pipe(
    map(({ used }) => used),
    // One subscription for all agents.
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  return {
    onEvent: ({ type, agent }) => {
      if (type === "agent-set" || type === "agent-invalid" || type === "agent-removed") {
        edited$.next(agent);
      }
    },
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

/** The result of a check, and whether the project's limits were used up: all agents share those. */
interface Found {
  readonly used: ReadonlyMap<string, UsedBudget>;
  readonly isProjectSpent: boolean;
}

/** Agents to check; null for all. With thousands of agents, a change of one must not check all. */
type Changed = ReadonlySet<string> | null;

function gathered(name$: Observable<string>, scheduler: SchedulerLike): Observable<Changed> {
  return defer(() => {
    let names = new Set<string>();
    return name$.pipe(
      tap((name) => names.add(name)),
      auditTime(quietMs, scheduler),
      map(() => {
        const taken = names;
        names = new Set();
        return taken;
      }),
    );
  });
}

/** A call that needs more than is left is rejected, which causes its own check. */
function isSpent({ usd, limit }: BudgetState): boolean {
  return limit !== null && usd >= limit;
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
  { scope, window, endsAt, usd, limit, needed }: BudgetState,
  onLimit: OnLimit,
): UsedBudget {
  const needs = needed === undefined ? {} : { needed };
  return { scope, window, endsAt: endsAt ?? Infinity, usd, limit: limit ?? 0, ...needs, onLimit };
}

/** For a person: whose budget it is, until when, and the command that raises it. */
export function usedText(budget: UsedBudget): string {
  return notStartedText(usedUp(budget));
}

function usedUp({
  usd,
  limit,
  scope,
  window,
  endsAt,
  needed,
}: Omit<BudgetState, "reserved">): UsedUp {
  const amounts = { spent: nanoOfUsd(usd), cap: nanoOfUsd(limit ?? 0) };
  const needs = needed === undefined ? {} : { needed: nanoOfUsd(needed) };
  return { scope, window, endsAt, ...amounts, ...needs };
}
