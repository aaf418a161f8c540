import {
  connect,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  observeOn,
  of,
  queueScheduler,
  ReplaySubject,
  share,
  startWith,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
} from "rxjs";
import type { Observable } from "rxjs";
import { agentEvent } from "./agents/agent-event.ts";
import { agentInForce } from "./agents/agent-in-force.ts";
import type { AgentInForce } from "./agents/agent-in-force.ts";
import { eachAgent } from "./agents/each-agent.ts";
import { routeByKey } from "./agents/route-by-key.ts";
import type { Routes } from "./agents/route-by-key.ts";
import type { Clock } from "./clock.ts";
import { noSuchAgent, queueRunEvent } from "./runs/run-events.ts";
import type { Withdrawn } from "./runs/run-events.ts";
import { queueLatest } from "./runs/queue-latest.ts";
import { queueLimits } from "./runs/queue-limits.ts";
import type { Places } from "./runs/places.ts";
import { adoptedRuns } from "./runs/adopted-runs.ts";
import type { AdoptedRun, AdoptedRuns } from "./runs/adopted-runs.ts";
import { runAgent } from "./runs/run-agent.ts";
import type { Kill, RunEdges } from "./runs/run-agent.ts";
import { triggersFor } from "./triggers/triggers-for.ts";
import type { LastSeen, Triggered } from "./triggers/triggers-for.ts";
import type { AgentChange, AgentConfig, BuildEvent, RunEvent, WorkItem } from "./vocabulary.ts";

/** All that comes in. Work is addressed and committed before it gets here. */
export interface RuntimeSources {
  readonly agentChange$: Observable<AgentChange>;
  readonly webhook$: Observable<WorkItem>;
  readonly call$: Observable<WorkItem>;
  readonly manual$: Observable<WorkItem>;
  readonly enabled$: Observable<{ readonly agent: string; readonly enabled: boolean }>;
  /** Emits at once. */
  readonly paused$: Observable<boolean>;
  readonly kill$: Observable<Kill>;
  /** Work that is not to run any more if it waits still. */
  readonly withdraw$: Observable<Withdrawn>;
  /** Runs of an earlier scheduler that live, or whose end nobody saw. Completes. */
  readonly adopted$: Observable<AdoptedRun>;
  /** Triggers stop and runs drain; the graph completes with the last run. */
  readonly stopping$: Observable<unknown>;
}

/** All that the graph needs done outside. */
export interface RuntimeEdges extends Omit<RunEdges, "kill$"> {
  readonly clock: Clock;
  readonly places: Places;
  readonly newId: () => string;
  /** Whether the agent was enabled when the scheduler last looked. */
  readonly isEnabled: (agent: string) => boolean;
  readonly lastSeen: (agent: string) => LastSeen | undefined;
  /** Makes ready what a run of this config needs, such as its image. Must not error. */
  readonly prepare: (config: AgentConfig) => Observable<BuildEvent>;
  /** What differs, in one line. */
  readonly describeChange: (before: AgentConfig, after: AgentConfig) => string;
}

/**
 * The whole graph. It never subscribes: start.ts does, once.
 *
 *     agentChange$ ─► eachAgent ─┬─ cron ─────────┐
 *     webhook$ ─┐                │                ├─► queueLatest(size) ─► runAgent(scale) ─► event$
 *     call$    ─┼─► routeByKey ──┴─ work ─────────┘
 *     manual$  ─┘                                                                     adopted$ ──► event$
 */
export function runtime(sources: RuntimeSources, edges: RuntimeEdges): Observable<RunEvent> {
  const { webhook$, call$, manual$, stopping$ } = sources;
  const untilStopping$ = merge(webhook$, call$, manual$).pipe(takeUntil(stopping$));
  const work = routeByKey(untilStopping$, ({ agent }) => agent);
  const enabled = routeByKey(sources.enabled$.pipe(takeUntil(stopping$)), ({ agent }) => agent);
  const withdrawn = routeByKey(sources.withdraw$.pipe(takeUntil(stopping$)), ({ agent }) => agent);
  const adopted = adoptedRuns(sources.adopted$, { ...edges, kill$: sources.kill$ });
  const change$ = sources.agentChange$.pipe(takeUntil(stopping$));
  const agents$ = change$.pipe(
    eachAgent((name, own$) =>
      own$.pipe(
        agentInForce(),
        // Replayed, because a run asks for the config in force when it starts.
        connect(
          (inForce$) =>
            agent({ name, inForce$, work, withdrawn, enabled, adopted, sources, edges }),
          {
            connector: () => new ReplaySubject(1),
          },
        ),
      ),
    ),
  );
  return merge(
    // First, so that no queue starts more than its agent's scale.
    adopted.event$,
    agents$,
    work.unrouted$.pipe(map((item) => noSuchAgent(item, edges.clock.now()))),
    merge(enabled.unrouted$, withdrawn.unrouted$).pipe(ignoreElements()),
  ).pipe(
    // A run that calls another agent emits from inside an emission; queued, all readers see one order.
    observeOn(queueScheduler),
    share(),
  );
}

interface AgentParts {
  readonly name: string;
  readonly inForce$: Observable<AgentInForce>;
  readonly work: Routes<WorkItem>;
  readonly withdrawn: Routes<Withdrawn>;
  readonly enabled: Routes<{ readonly agent: string; readonly enabled: boolean }>;
  readonly adopted: AdoptedRuns;
  readonly sources: RuntimeSources;
  readonly edges: RuntimeEdges;
}

/** One agent, until its directory is gone and its last run has ended. */
function agent(parts: AgentParts): Observable<RunEvent> {
  const { name, inForce$, sources, edges } = parts;
  const { clock } = edges;
  // The queue is the last to go: once it completes, nothing more is said of this agent.
  const over$ = new Subject<void>();
  const enabled$ = parts.enabled.to(name).pipe(
    map(({ enabled }) => enabled),
    startWith(edges.isEnabled(name)),
    distinctUntilChanged(),
  );
  const usable$ = new Subject<boolean>();
  const ready$ = inForce$.pipe(
    map(({ config }) => config?.runtime.type === "container"),
    distinctUntilChanged(),
    switchMap((inContainer) => (inContainer ? usable$.pipe(startWith(false)) : of(true))),
  );
  const triggered$ = triggersFor({
    ...edges,
    agent: name,
    config$: inForce$.pipe(
      map(({ config, change }) => (change.type === "removed" ? null : config)),
    ),
    enabled$,
    paused$: sources.paused$,
    work$: parts.work.to(name),
  }).pipe(takeUntil(sources.stopping$));

  return merge(
    inForce$.pipe(
      map((inForce) => agentEvent(inForce, clock.now(), edges.describeChange)),
      takeUntil(over$),
    ),
    inForce$.pipe(
      // Said after the agent's first event: before it, nobody knows the agent.
      take(1),
      switchMap(() => enabled$),
      filter((enabled, index) => index > 0 || !enabled),
      map((enabled): RunEvent => ({
        type: "agent-enabled",
        agent: name,
        at: clock.now(),
        enabled,
      })),
      takeUntil(over$),
    ),
    triggered$.pipe(
      // Connected, so that one schedule feeds both: events are told, work goes to the queue.
      connect((each$) =>
        merge(
          each$.pipe(
            filter((each) => each.type === "event"),
            map(({ event }) => event),
            takeUntil(over$),
          ),
          runs(parts, each$, { enabled$, ready$ }).pipe(tap({ complete: () => over$.next() })),
        ),
      ),
    ),
    // After the queue, which has to hear when the first image is there.
    builds(parts).pipe(
      tap((event) => {
        if (event.type === "build-finished") usable$.next(event.usable);
        // Waiting for a new image must not count against a run's timeout.
        if (event.type === "build-started") usable$.next(false);
      }),
      takeUntil(over$),
    ),
  );
}

function runs(
  { name, inForce$, withdrawn, adopted, sources, edges }: AgentParts,
  triggered$: Observable<Triggered>,
  gates: { readonly enabled$: Observable<boolean>; readonly ready$: Observable<boolean> },
): Observable<RunEvent> {
  const runEdges: RunEdges = { ...edges, kill$: sources.kill$ };
  const limits$ = queueLimits({
    agent$: inForce$.pipe(
      map(({ config, change }) => ({ config, present: change.type !== "removed" })),
    ),
    ...gates,
    beside$: adopted.countOf(name),
    draining$: sources.stopping$.pipe(
      map(() => true),
      startWith(false),
    ),
    scheduler: edges.scheduler,
  });
  return triggered$.pipe(
    filter((each) => each.type === "work"),
    map(({ item }) => item),
    queueLatest<WorkItem, RunEvent>({
      limits$,
      places: edges.places,
      // A cron tick that finds everybody busy is skipped; the next one is due anyway.
      mayWait: ({ trigger }) => trigger.kind !== "cron" || trigger.rerun !== undefined,
      withdraw$: withdrawn
        .to(name)
        .pipe(map(({ itemId, why }) => ({ why, isMeant: (item) => item.id === itemId }))),
      run: (item, place) =>
        inForce$.pipe(
          take(1),
          switchMap(({ config }) =>
            config === null ? EMPTY : runAgent(config, item, runEdges, place),
          ),
        ),
      report: (event) => queueRunEvent(name, edges.clock.now(), event),
    }),
  );
}

function builds({ name, inForce$, edges }: AgentParts): Observable<RunEvent> {
  return inForce$.pipe(
    map(({ config }) => config),
    filter((config) => config !== null),
    distinctUntilChanged(
      (a, b) =>
        mayRun(a) === mayRun(b) &&
        a.runtime.type === b.runtime.type &&
        a.dockerfileHash === b.dockerfileHash,
    ),
    switchMap((config) => (mayRun(config) ? edges.prepare(config) : EMPTY)),
    map((event): RunEvent => ({ ...event, agent: name, at: edges.clock.now() })),
  );
}

/** An agent that was switched off by its scale needs no image. */
function mayRun({ scale }: AgentConfig): boolean {
  return scale > 0;
}
