import type { Observable } from "rxjs";
import type { LogEntry, RunRequest, Usage } from "../vocabulary.ts";

/** Events of one run from its runtime, in order; `exit` is always the last and comes exactly once. */
export type RunnerEvent =
  | { readonly type: "output"; readonly entry: LogEntry }
  | { readonly type: "status-text"; readonly text: string }
  /** Its start is over: its environment and its harness are loaded. */
  | { readonly type: "ready" }
  | { readonly type: "exit"; readonly exit: RunnerExit };

export interface RunnerExit {
  /** Exit code of the process; null if it could not be started or a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** True when the engine reports that memory ran out. */
  readonly outOfMemory: boolean;
  /** Set when the run never began: the reason, for a person. */
  readonly rejected: string | null;
  /** True when it never began because the machine lacks something that may come back, such as disk space. */
  readonly blocked?: boolean;
  /** True when its process was asked for nothing: that costs its work no try. */
  readonly neverBegan?: boolean;
  /** The run's own account of a failure, for a person. */
  readonly error: string | null;
  readonly usage: Usage | null;
  /** The returned value, any JSON; absent without one. */
  readonly value?: unknown;
  /** True when its model ended with words; absent for no. */
  readonly said?: boolean;
  /** True when the run asked to be run again. */
  readonly rerun?: boolean;
  /** True when it is unknown how the run ended, as its environment went away. */
  readonly lost?: boolean;
  /** When it ended, epoch ms, where the runtime knows better than the moment at which it reports it. */
  readonly endedAt?: number;
}

/** An exit of which only these fields are known. */
export function exitEvent(fields: Partial<RunnerExit>): RunnerEvent {
  const unknown = { exitCode: null, signal: null, rejected: null, error: null, usage: null };
  return { type: "exit", exit: { ...unknown, outOfMemory: false, ...fields } };
}

/** The exit of a run that was stopped before it began. */
export const stoppedBeforeStart = exitEvent({ signal: "SIGTERM", neverBegan: true });

/** Why the scheduler ends a run: its time is up, a person killed it, or the scheduler itself stops. */
export type StopReason = "timed_out" | "killed" | "interrupted";

/**
 * The interface of a runtime (container, host user, fake). test/foundation/contracts/runner holds every
 * implementation to it.
 */
export interface Runner {
  /**
   * Cold: subscribing starts the run, output follows in order, then one `exit`, then completion. It never errors:
   * a run that cannot start is an `exit` with `rejected`. A value on `stop$` asks the run to end (TERM, grace,
   * KILL) and the `exit` still follows. Unsubscribing kills the run at once and leaves nothing behind.
   */
  run(request: RunRequest, stop$: Observable<StopReason>): Observable<RunnerEvent>;
}
