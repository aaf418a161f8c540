/** A run as the engine of a cluster reports it. */
export interface EngineReport {
  /** `waiting` for a machine or its image; `ended` when all its processes are gone; `gone` if the engine has no such run. */
  readonly state: "waiting" | "running" | "ended" | "gone";
  /** The machine, for people; null before it has one. */
  readonly node: string | null;
  /** Why it waits, or why it ended; null if the engine gives no reason. */
  readonly problem: string | null;
  /** How often a process of it ended or could not be started; 0 for an ended run whose start broke off. */
  readonly endings: number;
  /** The exit code and more of an ended run, as far as the engine has them. */
  readonly exitCode?: number | null;
  readonly outOfMemory?: boolean;
  /** True if waiting can't help, such as for a missing image; absent otherwise. */
  readonly isHopeless?: boolean;
  /** True if the cluster took it from its machine, such as one that is drained: the run itself is all right. */
  readonly isEvicted?: boolean;
}

export type LeaseCommand =
  /** The run's time counts from here. */
  | { readonly type: "begin" }
  /** A process on this machine has the run's claim. */
  | { readonly type: "claimed"; readonly node: string }
  /** A request of the run arrived. */
  | { readonly type: "heard" }
  | { readonly type: "reported"; readonly report: EngineReport }
  /** The run must end: TERM, and KILL after this many ms. */
  | { readonly type: "stop"; readonly graceMs: number }
  /** The run's end arrived. */
  | { readonly type: "end" };

export type LeaseEvent =
  /** Why the run waits for a machine. */
  | { readonly type: "waits"; readonly text: string }
  /** The run never began, and won't. */
  | { readonly type: "rejected"; readonly reason: string }
  /** The run was stopped before it began. */
  | { readonly type: "stopped" }
  | { readonly type: "lost"; readonly reason: string }
  | { readonly type: "out-of-memory"; readonly exitCode: number | null }
  /** The run was asked to end and did not. */
  | { readonly type: "overdue" };

export interface LeaseOptions {
  /** A run without a request for this long is lost. */
  readonly leaseMs: number;
  /** How long it may wait for a machine. */
  readonly startMs: number;
  /** The machine that claimed it from an earlier scheduler; null before the claim. */
  readonly node: string | null;
  /** Whether an earlier scheduler started it; while none was up, its process may have timed out. */
  readonly isAdopted: boolean;
}
