import type { StopReason } from "../outcomes.ts";
import type { Observable } from "rxjs";
import type { LogEntry, RunRequest, Usage } from "../vocabulary.ts";

/** Events of one run from its runtime, in order; `exit` is always the last and comes exactly once. */
export type RunnerEvent =
  | { readonly type: "output"; readonly entry: LogEntry }
  | { readonly type: "status-text"; readonly text: string }
  /** The start has ended: its environment and its harness are loaded. */
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
  /** True if it never began because the machine lacks a temporary resource, such as disk space. */
  readonly blocked?: boolean;
  /** True if its process received no request: that costs its work no attempt. */
  readonly neverBegan?: boolean;
  /** The run's own account of a failure, for a person. */
  readonly error: string | null;
  readonly usage: Usage | null;
  /** The returned value, any JSON; absent without one. */
  readonly value?: unknown;
  /** True if its model ended with text; absent otherwise. */
  readonly said?: boolean;
  /** True if it ended after a turn because a person asked for that. */
  readonly stopped?: boolean;
  /** True if the run requested a rerun. */
  readonly rerun?: boolean;
  /** True if it is unknown how the run ended, as its environment disappeared. */
  readonly lost?: boolean;
  /** When it ended, epoch ms, if the runtime knows that better than the time of its report. */
  readonly endedAt?: number;
}

/** An exit with only these known fields. */
export function exitEvent(fields: Partial<RunnerExit>): RunnerEvent {
  const unknown = { exitCode: null, signal: null, rejected: null, error: null, usage: null };
  return { type: "exit", exit: { ...unknown, outOfMemory: false, ...fields } };
}

/** The exit of a run that was stopped before it began. */
export const stoppedBeforeStart = exitEvent({ signal: "SIGTERM", neverBegan: true });

/**
 * The interface of a runtime (container, host user, fake). test/runtime/runners/contract.ts holds every
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
