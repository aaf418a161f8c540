import {
  BehaviorSubject,
  combineLatest,
  connect,
  defer,
  distinctUntilChanged,
  EMPTY,
  map,
  merge,
  mergeMap,
  of,
  ReplaySubject,
  switchMap,
  take,
  takeUntil,
  tap,
} from "rxjs";
import type { Observable } from "rxjs";
import { needsImage, type OnLimit, type AgentConfig } from "./agent-config.ts";
import { mergeUntilMainCompletes } from "./merge-until-main-completes.ts";
import { agentEvent } from "./agents/agent-event.ts";
import { activeConfig, type ActiveConfig } from "./agents/active-config.ts";
import type { Routes } from "./agents/route-by-key.ts";
import type { Clock } from "./clock.ts";
import { keyedOf, type AdoptedRuns } from "./runs/adopted-runs.ts";
import type { Slots } from "./runs/slots.ts";
import { queueLatest } from "./runs/queue-latest.ts";
import { queueLimits } from "./runs/queue-limits.ts";
import { killsOf, runAgent, type RunPorts } from "./runs/run-agent.ts";
import { queueRunEvent, type Withdrawn } from "./runs/run-events.ts";
import { attributesOf } from "./triggers/attributes.ts";
import { isTick, isWork, triggersFor } from "./triggers/triggers-for.ts";
import type { Calendars } from "./triggers/calendar.ts";
import type { CheckedBefore, Triggered } from "./triggers/triggers-for.ts";
import type { AgentChange, BuildEvent, RunEvent, WorkItem } from "./vocabulary.ts";

/** Ports of an agent's graph to the outside. */
export interface AgentPorts extends RunPorts {
  readonly clock: Clock;
  readonly slots: Slots;
  readonly newId: () => string;
  /** Whether the agent was enabled at the scheduler's last check. */
  readonly isEnabled: (agent: string) => boolean;
  readonly lastChecked: CheckedBefore;
  /** The used-up budget that would refuse every model call of a run that starts now, or null. */
  readonly overBudget: (agent: string) => OverBudget | null;
  /** Prepares the image for runs of this config. Must not error. */
  readonly prepare: (config: AgentConfig) => Observable<BuildEvent>;
  /** The differences in one line. */
  readonly describeChange: (before: AgentConfig, after: AgentConfig) => string;
}

export interface Switched {
  readonly agent: string;
  readonly enabled: boolean;
}

/** A used-up budget. */
export interface OverBudget {
  /** For a person: owner, end, and how to raise it. */
  readonly reason: string;
  readonly onLimit: OnLimit;
}

/** Sources that all agents share. */
export interface AgentSources {
  readonly work: Routes<Triggered>;
  readonly withdrawn: Routes<Withdrawn>;
  readonly switched: Routes<Switched>;
  readonly adopted: AdoptedRuns;
  /** Emits at once. */
  readonly paused$: Observable<boolean>;
  /** Null while new work is not paused. Emits at once. */
  readonly workPausedAfter$: Observable<number | null>;
  /** The agents that wait for money. Emits at once. */
  readonly waitForMoney$: Observable<ReadonlySet<string>>;
  /** The project's calendars. Emits at once. */
  readonly calendars$: Observable<Calendars>;
  /** Emits at once; once true, triggers stop and runs drain. */
  readonly draining$: Observable<boolean>;
  readonly stopping$: Observable<unknown>;
}

/** The graph of one agent. Most of a thousand agents are idle, so a test counts the cost of each. */
interface Agent {
  readonly name: string;
  /** Replayed, because a run reads the active config when it starts. */
  readonly active$: Observable<ActiveConfig>;
  readonly enabled$: BehaviorSubject<boolean>;
  /** Whether runs can have an image. */
  readonly usable$: BehaviorSubject<boolean>;
}

/**
 * One agent, from its first change until its directory is gone and its last run has ended.
 *
 *     change$ ─► activeConfig ─┬─ cron ─┐
 *                              │        ├─► queueLatest(size) ─► runAgent(scale) ─► event$
 *                  work ───────┼────────┘
 *                              ├─► what changed ───────────────────────────────────► event$
 *                              └─► builds ─────────────────────────────────────────► event$
 */
export function agentGraph(
  name: string,
  change$: Observable<AgentChange>,
  sources: AgentSources,
  ports: AgentPorts,
): Observable<RunEvent> {
  return defer(() => {
    const enabled$ = new BehaviorSubject(ports.isEnabled(name));
    const usable$ = new BehaviorSubject(false);
    return change$.pipe(
      activeConfig(),
      connect((active$) => events({ name, active$, enabled$, usable$ }, sources, ports), {
        connector: () => new ReplaySubject(1),
      }),
    );
  });
}

function events(agent: Agent, sources: AgentSources, ports: AgentPorts): Observable<RunEvent> {
  const triggered$ = triggersFor({
    ...ports,
    agent: agent.name,
    agent$: agent.active$,
    enabled$: agent.enabled$,
    paused$: sources.paused$,
    calendars$: sources.calendars$,
    work$: sources.work.to(agent.name),
  }).pipe(takeUntil(sources.stopping$));
  return mergeUntilMainCompletes(
    // The queue ends last: once it completes, this agent emits no more events.
    triggered$.pipe(queued(agent, sources, ports)),
    merge(changes(agent, ports), switches(agent, sources, ports), builds(agent, ports)),
  );
}

/** The events of the agent's files, and that it was already disabled. */
function changes(
  { name, active$, enabled$ }: Agent,
  { clock, describeChange }: AgentPorts,
): Observable<RunEvent> {
  return active$.pipe(
    mergeMap((active, index) => {
      const event = agentEvent(active, clock.now(), describeChange);
      return index > 0 || enabled$.value ? [event] : [event, switchedEvent(name, false, clock)];
    }),
  );
}

function switches(
  { name, enabled$ }: Agent,
  { switched }: AgentSources,
  { clock }: AgentPorts,
): Observable<RunEvent> {
  return switched.to(name).pipe(
    mergeMap(({ enabled }) => {
      if (enabled === enabled$.value) return [];
      enabled$.next(enabled);
      return [switchedEvent(name, enabled, clock)];
    }),
  );
}

function switchedEvent(agent: string, enabled: boolean, clock: Clock): RunEvent {
  return { type: "agent-enabled", agent, at: clock.now(), enabled };
}

function queued(
  { name, active$, enabled$, usable$ }: Agent,
  { withdrawn, adopted, waitForMoney$, workPausedAfter$, draining$ }: AgentSources,
  ports: AgentPorts,
): (triggered$: Observable<Triggered>) => Observable<RunEvent> {
  const { slots, scheduler, clock } = ports;
  const beside$ = adopted.countOf(name);
  const waits$ = combineLatest([waitForMoney$, workPausedAfter$]).pipe(
    map(([agents, pausedAfter]) => pausedAfter !== null || agents.has(name)),
  );
  return queueLatest<WorkItem, RunEvent>({
    limits$: queueLimits({
      agent$: active$,
      enabled$,
      usable$,
      waits$,
      draining$,
      beside$,
      scheduler,
    }),
    slots,
    isItem: isWork,
    isTick,
    // A tick that an earlier scheduler accepted waits like other work.
    mayWait: (item) => !isTick(item) || item.waits === true,
    late: (item, why) => lateTick(item, why === "busy" ? null : slots.size()),
    isSameSchedule,
    keyed: keyedOf,
    beside: () => adopted.keyedOf(name),
    sessionOf: ({ session }) => session,
    sessionsBeside: () => adopted.sessionsOf(name),
    withdraw$: withdrawn
      .to(name)
      .pipe(map(({ itemId, why }) => ({ why, isMeant: (item) => item.id === itemId }))),
    run: (item, slot, keyed) =>
      active$.pipe(
        take(1),
        switchMap(({ config }) => {
          if (config === null) return EMPTY;
          const over = ports.overBudget(name);
          // An agent that pauses is about to be held. Work that comes before that starts a run, which waits for money itself.
          if (over?.onLimit === "stop") return of(withoutMoney(item, clock.now(), over));
          const kill$ = keyed === null ? ports.kill$ : killsOf(ports.kill$, keyed);
          return runAgent(config, item, keyed === null ? ports : { ...ports, kill$ }, slot);
        }),
      ),
    report: (event) => {
      const overBudget = (): string | null => ports.overBudget(name)?.reason ?? null;
      const at = { agent: name, at: clock.now(), usable: usable$.value, overBudget };
      return queueRunEvent(at, event);
    },
  });
}

/** `slotsInUse` is null if the tick waits for its agent's own runners. */
function lateTick({ trigger, ...item }: WorkItem, slotsInUse: number | null): WorkItem {
  if (trigger.kind !== "cron") return { ...item, trigger };
  const why = slotsInUse === null ? ({ runnersBusy: true } as const) : { slotsInUse };
  return { ...item, trigger: { ...trigger, ...why } };
}

function isSameSchedule(a: WorkItem, b: WorkItem): boolean {
  return attributesOf(a.trigger)["schedule"] === attributesOf(b.trigger)["schedule"];
}

/** No run is started only to find that it can call no model. The next tick comes by itself; other work is a dead letter. */
function withoutMoney(item: WorkItem, at: number, { reason }: OverBudget): RunEvent {
  const outcome = isTick(item) ? "skipped" : "rejected";
  return { type: "refused", agent: item.agent, at, item, outcome, reason };
}

function builds({ name, active$, usable$ }: Agent, ports: AgentPorts): Observable<RunEvent> {
  const build = (config: AgentConfig): Observable<RunEvent> =>
    ports.prepare(config).pipe(
      tap((event) => {
        if (event.type === "build-finished") usable$.next(event.usable);
        if (event.type === "build-started") usable$.next(false);
      }),
      map((event): RunEvent => ({ ...event, agent: name, at: ports.clock.now() })),
    );
  return active$.pipe(
    distinctUntilChanged((a, b) => sameImage(a.config, b.config)),
    switchMap(({ config }) => {
      // Neither waiting for a new image nor checking for one may count against a run's timeout.
      if (usable$.value) usable$.next(false);
      return config !== null && needsImage(config) ? build(config) : EMPTY;
    }),
  );
}

function sameImage(a: AgentConfig | null, b: AgentConfig | null): boolean {
  if (a === null || b === null) return a === b;
  // Each runtime keeps an image ready in its own place.
  const sameRuntime = a.runtime.type === b.runtime.type;
  return sameRuntime && needsImage(a) === needsImage(b) && a.dockerfileHash === b.dockerfileHash;
}
