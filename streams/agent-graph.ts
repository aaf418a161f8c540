import {
  BehaviorSubject,
  connect,
  defer,
  distinctUntilChanged,
  EMPTY,
  map,
  merge,
  mergeMap,
  ReplaySubject,
  switchMap,
  take,
  takeUntil,
  tap,
} from "rxjs";
import type { Observable } from "rxjs";
import { alongside } from "./alongside.ts";
import { agentEvent } from "./agents/agent-event.ts";
import { agentInForce } from "./agents/agent-in-force.ts";
import type { AgentInForce } from "./agents/agent-in-force.ts";
import type { Routes } from "./agents/route-by-key.ts";
import type { Clock } from "./clock.ts";
import type { AdoptedRuns } from "./runs/adopted-runs.ts";
import type { Places } from "./runs/places.ts";
import { queueLatest } from "./runs/queue-latest.ts";
import { queueLimits } from "./runs/queue-limits.ts";
import { runAgent } from "./runs/run-agent.ts";
import type { RunEdges } from "./runs/run-agent.ts";
import { queueRunEvent } from "./runs/run-events.ts";
import type { Withdrawn } from "./runs/run-events.ts";
import { isTick, isWork, triggersFor } from "./triggers/triggers-for.ts";
import type { LastSeen, Triggered } from "./triggers/triggers-for.ts";
import { needsImage } from "./agent-config.ts";
import type { AgentConfig } from "./agent-config.ts";
import type { AgentChange, BuildEvent, RunEvent, WorkItem } from "./vocabulary.ts";

/** What an agent's graph needs done outside. */
export interface AgentEdges extends RunEdges {
  readonly clock: Clock;
  readonly places: Places;
  readonly newId: () => string;
  /** Whether the agent was enabled when the scheduler last looked. */
  readonly isEnabled: (agent: string) => boolean;
  readonly lastSeen: (agent: string) => LastSeen | undefined;
  /** Makes the image ready that runs of this config need. Must not error. */
  readonly prepare: (config: AgentConfig) => Observable<BuildEvent>;
  /** What differs, in one line. */
  readonly describeChange: (before: AgentConfig, after: AgentConfig) => string;
}

export interface Switched {
  readonly agent: string;
  readonly enabled: boolean;
}

/** What all agents have in common. */
export interface AgentSources {
  readonly work: Routes<WorkItem>;
  readonly withdrawn: Routes<Withdrawn>;
  readonly switched: Routes<Switched>;
  readonly adopted: AdoptedRuns;
  /** Emits at once. */
  readonly paused$: Observable<boolean>;
  /** Emits at once; once true, triggers stop and runs drain. */
  readonly draining$: Observable<boolean>;
  readonly stopping$: Observable<unknown>;
}

/** What holds for one agent. A thousand of them wait most of the time, so what each costs is counted in a test. */
interface Agent {
  readonly name: string;
  /** Replayed, because a run asks for the config in force when it starts. */
  readonly inForce$: Observable<AgentInForce>;
  readonly enabled$: BehaviorSubject<boolean>;
  /** Whether there is an image that a run can have. */
  readonly usable$: BehaviorSubject<boolean>;
}

/**
 * One agent, from its first change until its directory is gone and its last run has ended.
 *
 *     change$ ─► agentInForce ─┬─ cron ─┐
 *                              │        ├─► queueLatest(size) ─► runAgent(scale) ─► event$
 *                  work ───────┼────────┘
 *                              ├─► what changed ───────────────────────────────────► event$
 *                              └─► builds ─────────────────────────────────────────► event$
 */
export function agentGraph(
  name: string,
  change$: Observable<AgentChange>,
  sources: AgentSources,
  edges: AgentEdges,
): Observable<RunEvent> {
  return defer(() => {
    const enabled$ = new BehaviorSubject(edges.isEnabled(name));
    const usable$ = new BehaviorSubject(false);
    return change$.pipe(
      agentInForce(),
      connect((inForce$) => events({ name, inForce$, enabled$, usable$ }, sources, edges), {
        connector: () => new ReplaySubject(1),
      }),
    );
  });
}

function events(agent: Agent, sources: AgentSources, edges: AgentEdges): Observable<RunEvent> {
  const triggered$ = triggersFor({
    ...edges,
    agent: agent.name,
    agent$: agent.inForce$,
    enabled$: agent.enabled$,
    paused$: sources.paused$,
    work$: sources.work.to(agent.name),
  }).pipe(takeUntil(sources.stopping$));
  return alongside(
    // The queue is the last to go: once it completes, nothing more is said of this agent.
    triggered$.pipe(queued(agent, sources, edges)),
    merge(changes(agent, edges), switches(agent, sources, edges), builds(agent, edges)),
  );
}

/** What is told of the agent's files; of one that was disabled before, that, too. */
function changes(
  { name, inForce$, enabled$ }: Agent,
  { clock, describeChange }: AgentEdges,
): Observable<RunEvent> {
  return inForce$.pipe(
    mergeMap((inForce, index) => {
      const event = agentEvent(inForce, clock.now(), describeChange);
      return index > 0 || enabled$.value ? [event] : [event, switchedEvent(name, false, clock)];
    }),
  );
}

function switches(
  { name, enabled$ }: Agent,
  { switched }: AgentSources,
  { clock }: AgentEdges,
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
  { name, inForce$, enabled$, usable$ }: Agent,
  { withdrawn, adopted, draining$ }: AgentSources,
  edges: AgentEdges,
): (triggered$: Observable<Triggered>) => Observable<RunEvent> {
  const { places, scheduler, clock } = edges;
  const beside$ = adopted.countOf(name);
  return queueLatest<WorkItem, RunEvent>({
    limits$: queueLimits({ agent$: inForce$, enabled$, usable$, beside$, draining$, scheduler }),
    places,
    isItem: isWork,
    // A tick that finds all runners busy is skipped.
    mayWait: (item) => !isTick(item),
    withdraw$: withdrawn
      .to(name)
      .pipe(map(({ itemId, why }) => ({ why, isMeant: (item) => item.id === itemId }))),
    run: (item, place) =>
      inForce$.pipe(
        take(1),
        switchMap(({ config }) => (config === null ? EMPTY : runAgent(config, item, edges, place))),
      ),
    report: (event) =>
      queueRunEvent({ agent: name, at: clock.now(), usable: usable$.value }, event),
  });
}

function builds({ name, inForce$, usable$ }: Agent, edges: AgentEdges): Observable<RunEvent> {
  const build = (config: AgentConfig): Observable<RunEvent> =>
    edges.prepare(config).pipe(
      tap((event) => {
        if (event.type === "build-finished") usable$.next(event.usable);
        if (event.type === "build-started") usable$.next(false);
      }),
      map((event): RunEvent => ({ ...event, agent: name, at: edges.clock.now() })),
    );
  return inForce$.pipe(
    distinctUntilChanged((a, b) => sameImage(a.config, b.config)),
    switchMap(({ config }) => {
      // Waiting for a new image must not count against a run's timeout, nor finding out whether it needs one.
      if (usable$.value) usable$.next(false);
      return config !== null && needsImage(config) ? build(config) : EMPTY;
    }),
  );
}

function sameImage(a: AgentConfig | null, b: AgentConfig | null): boolean {
  if (a === null || b === null) return a === b;
  return needsImage(a) === needsImage(b) && a.dockerfileHash === b.dockerfileHash;
}
