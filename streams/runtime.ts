import {
  ignoreElements,
  map,
  merge,
  observeOn,
  queueScheduler,
  ReplaySubject,
  share,
  startWith,
  takeUntil,
} from "rxjs";
import type { Observable } from "rxjs";
import { agentGraph, type AgentPorts, type AgentSources, type Switched } from "./agent-graph.ts";
import { eachAgent } from "./agents/each-agent.ts";
import { routeByKey } from "./agents/route-by-key.ts";
import { adoptedRuns, type AdoptedRun } from "./runs/adopted-runs.ts";
import { holdWork, type StoredWork } from "./runs/hold-work.ts";
import type { Kill } from "./runs/run-agent.ts";
import { noSuchAgent, type Withdrawn } from "./runs/run-events.ts";
import type { Calendars } from "./triggers/calendar.ts";
import { isWork, type Triggered } from "./triggers/triggers-for.ts";
import type { AgentChange, RunEvent, WorkItem } from "./vocabulary.ts";

/** All inputs. Work is addressed and committed before it arrives. */
export interface RuntimeSources {
  readonly agentChange$: Observable<AgentChange>;
  readonly webhook$: Observable<WorkItem>;
  readonly call$: Observable<WorkItem>;
  readonly manual$: Observable<WorkItem>;
  readonly enabled$: Observable<Switched>;
  /** Emits at once. */
  readonly paused$: Observable<boolean>;
  /** The place in the store after which work waits; null while new work is not paused. Emits at once. */
  readonly workPausedAfter$: Observable<number | null>;
  /** The agents that wait for money. Emits at once. */
  readonly waitForMoney$: Observable<ReadonlySet<string>>;
  /** The project's calendars. Emits at once. */
  readonly calendars$: Observable<Calendars>;
  readonly kill$: Observable<Kill>;
  /** Work that must not run any more if it still waits. */
  readonly withdraw$: Observable<Withdrawn>;
  /** Live runs of an earlier scheduler, and those without a recorded end. Completes. */
  readonly adopted$: Observable<AdoptedRun>;
  /** Triggers stop and runs drain; the graph completes with the last run. */
  readonly stopping$: Observable<unknown>;
}

/** All effects that the graph needs from outside. */
export interface RuntimePorts extends Omit<AgentPorts, "kill$" | "draining$"> {
  readonly storedWork: StoredWork;
}

/**
 * The whole graph. It never subscribes: start.ts does, once.
 *
 *     agentChange$ ─► eachAgent ───────────┬─ cron ─────────┐
 *     webhook$ ─┐                          │                ├─► queueLatest(size) ─► runAgent(scale) ─► event$
 *     call$    ─┼─► holdWork ► routeByKey ─┴─ work ─────────┘
 *     manual$  ─┘                                                                     adopted$ ──► event$
 */
export function runtime(sources: RuntimeSources, ports: RuntimePorts): Observable<RunEvent> {
  const { webhook$, call$, manual$, kill$, paused$, waitForMoney$, stopping$ } = sources;
  const { withdraw$, workPausedAfter$, calendars$ } = sources;
  const { clock, storedWork: stored } = ports;
  const untilStopping = <T>(value$: Observable<T>): Observable<T> =>
    value$.pipe(takeUntil(stopping$));
  const hold = { pausedAfter$: workPausedAfter$, withdrawn$: withdraw$, stored, clock };
  const work$ = untilStopping(merge(webhook$, call$, manual$)).pipe(holdWork(hold));
  const work = routeByKey<Triggered>(work$, ofAgent);
  const switched = routeByKey(untilStopping(sources.enabled$), ofAgent);
  const withdrawn = routeByKey(untilStopping(withdraw$), ofAgent);
  const draining$ = drainingOnce(stopping$);
  const agentPorts: AgentPorts = { ...ports, kill$, draining$ };
  const adopted = adoptedRuns(sources.adopted$, agentPorts);
  const routes = { work, switched, withdrawn };
  const switches = { paused$, workPausedAfter$, waitForMoney$, calendars$ };
  const all: AgentSources = { ...routes, ...switches, adopted, draining$, stopping$ };
  return merge(
    // Adopted runs come first, so that no queue starts more runs than its agent's scale.
    adopted.event$,
    untilStopping(sources.agentChange$).pipe(
      eachAgent((name, change$) => agentGraph(name, change$, all, agentPorts)),
    ),
    work.unrouted$.pipe(map((value) => (isWork(value) ? noSuchAgent(value, clock.now()) : value))),
    merge(switched.unrouted$, withdrawn.unrouted$).pipe(ignoreElements()),
  ).pipe(
    // A run that calls another agent emits during an emission; queued, all readers see one order.
    observeOn(queueScheduler),
    share(),
  );
}

function ofAgent({ agent }: { readonly agent: string }): string {
  return agent;
}

/** False, and true from `stopping$` on: one for all agents. */
function drainingOnce(stopping$: Observable<unknown>): Observable<boolean> {
  return stopping$.pipe(
    map(() => true),
    startWith(false),
    share({ connector: () => new ReplaySubject(1), resetOnComplete: false }),
  );
}
