import type { Observable } from "rxjs";
import type { LogEntry, RunRequest, Usage } from "../vocabulary.ts";

/** What a runtime reports of one run, in order; `exit` is always the last and comes exactly once. */
export type RunnerEvent =
  | { readonly type: "output"; readonly entry: LogEntry }
  | { readonly type: "status-text"; readonly text: string }
  /** Its start is over: what it runs in and its harness are loaded. */
  | { readonly type: "ready" }
  | { readonly type: "exit"; readonly exit: RunnerExit };

export interface RunnerExit {
  /** What the process gave; null when it could not be started or a signal ended it. */
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
  /** What the run returned, any JSON; absent for nothing. */
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

/** Why the scheduler ends a run: its time is up, a person killed it, or the scheduler itself stops. */
export type StopReason = "timed_out" | "killed" | "interrupted";

/**
 * What a runtime (container, host user, fake) does for the scheduler. test/foundation/contracts/runner holds every
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
