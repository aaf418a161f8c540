import type { StopReason } from "../outcomes.ts";
import {
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  filter,
  map,
  merge,
  mergeMap,
  of,
  ReplaySubject,
  switchMap,
  take,
  tap,
} from "rxjs";
import type { MonoTypeOperatorFunction, Observable, SchedulerLike } from "rxjs";
import type { AgentConfig } from "../agent-config.ts";
import { StartedBefore, type RunEvent, type RunRequest, type WorkItem } from "../vocabulary.ts";
import type { KeyedRun } from "./keyed-runs.ts";
import { expectedEnd } from "./expectation.ts";
import { isEndedBySignal, reasonInTime, runEnd } from "./outcome.ts";
import { pausableTimer } from "./pausable-timer.ts";
import type { Slot, Slots } from "./slots.ts";
import { exitEvent } from "./runner.ts";
import type { Runner, RunnerEvent, RunnerExit } from "./runner.ts";
import { startInTurn } from "./starting.ts";
import type { RunClock, RunOwner, Suspension } from "./suspension.ts";
import { untilStarted, type Blocked } from "./until-started.ts";

/**
 * Asks live runs to end: one instance (`as` is why, `killed` by default), the one of an item, all of an agent, or everything, which then ends
 * for this reason.
 */
export type Kill =
  | { readonly instanceId: string; readonly as?: "unanswered" }
  | { readonly itemId: string; readonly supersededBy: string }
  | { readonly agent: string }
  | { readonly everything: Exclude<StopReason, "timed_out"> };

export interface RunPorts {
  readonly runner: Runner;
  /** Commits that this instance takes the item (`src/runtime/runs/claims.ts`); a run starts only after it emitted. Errors if it can't. */
  readonly claim: (request: RunRequest) => Observable<unknown>;
  readonly newInstanceId: (agent: string) => string;
  readonly kill$: Observable<Kill>;
  readonly scheduler: SchedulerLike;
  readonly owner: RunOwner;
  /** How many runs may be starting at once. */
  readonly starting: Slots;
  /** Emits at once; true once the scheduler stops. */
  readonly draining$: Observable<boolean>;
  /** Whether the scheduler is stopping: a signal that then ends a run is part of that. */
  readonly isStopping: () => boolean;
}

/** The dependencies of a claimed run. */
export type FollowPorts = Pick<
  RunPorts,
  "kill$" | "scheduler" | "owner" | "starting" | "draining$" | "isStopping"
>;

/**
 * One work item from claim to end: `started`, output…, `finished`. A run that cannot be claimed is `refused`.
 * Never errors.
 *
 *     runner:  ──o──o──x|          o output, x exit
 *     out:     s─o──o──f|          s started, f finished
 */
export function runAgent(
  agent: AgentConfig,
  item: WorkItem,
  ports: RunPorts,
  slot: Slot | null = null,
): Observable<RunEvent> {
  return defer(() => {
    const request: RunRequest = { instanceId: ports.newInstanceId(agent.name), agent, item };
    const report: ClaimedRun["report"] = (stop$) => ports.runner.run(request, stop$);
    return ports.claim(request).pipe(
      take(1),
      switchMap(() => followedRun({ request, startedAt: null, slot, report }, ports)),
    );
  }).pipe(
    catchError((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      const outcome = error instanceof StartedBefore ? "skipped" : "rejected";
      const at = ports.scheduler.now();
      return of<RunEvent>({ type: "refused", agent: item.agent, at, item, outcome, reason });
    }),
  );
}

/** A claimed run. */
export interface ClaimedRun {
  readonly request: RunRequest;
  /** When an earlier scheduler started it, epoch ms; null for a run that starts now. */
  readonly startedAt: number | null;
  /** How long its clock was paused under an earlier scheduler, in ms; absent for not at all. */
  readonly waitedMs?: number;
  /** Whether an earlier scheduler left the run while stopping; absent otherwise. */
  readonly leftByStop?: boolean;
  /** Whether an earlier scheduler was ending the run for newer work; absent otherwise. */
  readonly isSuperseded?: boolean;
  /** Null without one. */
  readonly slot: Slot | null;
  /** Cold, like `Runner.run`, for this run. */
  readonly report: (stop$: Observable<StopReason>) => Observable<RunnerEvent>;
}

/**
 * A claimed run from `started` to `finished`, with `blocked` while the machine can't start it. Its time counts from its
 * start, even by an earlier scheduler, without the time spent waiting for its turn to start, or for something else.
 */
export function followedRun(run: ClaimedRun, ports: FollowPorts): Observable<RunEvent> {
  const { request, startedAt: earlier, waitedMs = 0, slot, isSuperseded = false } = run;
  return defer(() => {
    const now = ports.scheduler.now();
    const startedAt = earlier ?? now;
    const clock = ports.owner.enter({ request, slot, waitedMs });
    const deadline = (): number =>
      startedAt + request.agent.timeoutSeconds * 1000 + clock.waitedMs();
    let begunAt = startedAt;
    let stopped: StopReason | null = null;
    let supersededBy: string | null = null;
    let supersededAt = Infinity;
    const reason$ = stops(request, deadline() - now, clock, ports).pipe(
      tap((stop) => {
        [stopped, supersededBy] = [stop.reason, stop.supersededBy ?? null];
        // The clock may have been set back since.
        supersededAt = isSuperseded ? 0 : ports.scheduler.now();
      }),
      map(({ reason }) => reason),
    );
    const { instanceId, item } = request;
    const at = { agent: item.agent, at: now };
    // The end of a run that ended while no scheduler ran is that of its runtime. An engine records the start after the
    // process began, and a clock may be set back: no run ends before it started.
    const endedAt = (exit: RunnerExit): number =>
      Math.max(startedAt, (earlier === null ? null : exit.endedAt) ?? ports.scheduler.now());
    const whyStopped = (exit: RunnerExit): StopReason | null => {
      const reason = stopped ?? (isInterrupted(exit, run, ports) ? "interrupted" : null);
      return earlier === null
        ? reason
        : reasonInTime(exit, reason, { deadline: deadline(), supersededAt });
    };
    const finished = (given: RunnerExit): Observable<RunEvent> => {
      const exit = earlier === null ? given : adoptedExit(given);
      const { agent } = request;
      const end = runEnd(exit, whyStopped(exit), {
        agent,
        item,
        supersededBy,
        ...ports.owner.factsAtEnd(instanceId),
      });
      const ended = { ...at, at: endedAt(exit), item, instanceId, startedAt: begunAt };
      return of({
        ...ended,
        type: "finished",
        end: expectedEnd(end, exit.said ?? false, agent.expect),
      });
    };
    const onStart = (): void => void (begunAt = ports.scheduler.now());
    const early = earlier === null ? {} : { startedAt: earlier };
    return concat(
      of<RunEvent>({ ...at, type: "started", item, instanceId, ...early }),
      // One clock for the whole run, and a reason that is replayed: a runner may subscribe late, or more than once.
      reason$.pipe(
        connect((stop$) => reportInTurn(run, { stop$, clock, ports, onStart }), {
          connector: () => new ReplaySubject(1),
        }),
        catchError((error: unknown) => of(brokenRunner(error))),
        untilExit(),
        filter((event) => event.type !== "ready"),
        concatMap((event): Observable<RunEvent> => {
          if (event.type === "exit") return finished(event.exit);
          return of({ ...event, agent: item.agent, at: ports.scheduler.now(), instanceId });
        }),
      ),
    );
  });
}

/** An adopted run is not started again. If it could not start, it is lost, without costing its work an attempt. */
function adoptedExit({ blocked, rejected, ...exit }: RunnerExit): RunnerExit {
  if (blocked !== true) return { ...exit, rejected };
  return { ...exit, rejected: null, error: rejected, lost: true, neverBegan: true };
}

/** A run before its start. */
interface Starting {
  readonly stop$: Observable<StopReason>;
  readonly clock: Suspension;
  readonly ports: FollowPorts;
  readonly onStart: () => void;
}

/** The events of a run, from its turn to start; its clock is paused until then. An adopted run has started. */
function reportInTurn(
  { startedAt, report }: ClaimedRun,
  { stop$, clock, ports: { starting: slots, scheduler, draining$ }, onStart }: Starting,
): Observable<RunnerEvent | Blocked> {
  // Deferred, so that a runner that throws ends the run: it is already claimed, and can't be rejected any more.
  const report$ = defer(() => report(stop$));
  if (startedAt !== null) return report$;
  const run$ = defer(() => {
    const unpause = clock.pause();
    const begin = (): void => {
      onStart();
      unpause();
    };
    return startInTurn(report$, { slots, stop$, scheduler, onStart: begin });
  });
  return untilStarted(run$, { stop$, draining$, clock, scheduler });
}

/** Whether the stop of a scheduler ended the run although this one did not request its end. */
function isInterrupted(
  exit: RunnerExit,
  { leftByStop = false }: ClaimedRun,
  { isStopping }: FollowPorts,
): boolean {
  return isEndedBySignal(exit) && (leftByStop || isStopping());
}

/**
 * The events of a run, to its first exit: a second one would end it twice. It is over when its runner is, which clears
 * up after the exit.
 *
 *     in:   ─o─x─o─x─|
 *     out:  ─o─x─────|
 */
function untilExit(): MonoTypeOperatorFunction<RunnerEvent | Blocked> {
  return (event$) =>
    defer(() => {
      let isOver = false;
      return event$.pipe(
        filter(({ type }) => {
          const wasOver = isOver;
          isOver ||= type === "exit";
          return !wasOver;
        }),
      );
    });
}

interface Stop {
  readonly reason: StopReason;
  readonly supersededBy?: string;
}

function stops(
  request: RunRequest,
  leftMs: number,
  { paused$, elapsed }: RunClock,
  ports: FollowPorts,
): Observable<Stop> {
  return merge(
    pausableTimer(paused$, leftMs, ports.scheduler, elapsed).pipe(
      map((): Stop => ({ reason: "timed_out" })),
    ),
    ports.kill$.pipe(
      filter((kill) => meant(kill, request)),
      map(stopOf),
    ),
  ).pipe(take(1));
}

function stopOf(kill: Kill): Stop {
  if ("itemId" in kill) return { reason: "superseded", supersededBy: kill.supersededBy };
  if ("everything" in kill) return { reason: kill.everything };
  return { reason: ("as" in kill ? kill.as : undefined) ?? "killed" };
}

/** The requests to end one run: its own, and that newer work of its key takes its place. */
export function killsOf(
  kill$: Observable<Kill>,
  { id, supersededBy$ }: KeyedRun,
): Observable<Kill> {
  return merge(
    kill$,
    supersededBy$.pipe(
      mergeMap((supersededBy) => (supersededBy === null ? [] : [{ itemId: id, supersededBy }])),
    ),
  );
}

function meant(kill: Kill, request: RunRequest): boolean {
  if ("instanceId" in kill) return kill.instanceId === request.instanceId;
  if ("itemId" in kill) return kill.itemId === request.item.id;
  return "agent" in kill ? kill.agent === request.agent.name : true;
}

function brokenRunner(error: unknown): RunnerEvent {
  return exitEvent({ error: error instanceof Error ? error.message : String(error) });
}
