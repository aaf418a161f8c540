/** A run as the engine of a cluster sees it. */
export interface EngineReport {
  /** `waiting` for a machine or its image; `ended` when all its processes are gone; `gone` when the engine has no such run. */
  readonly state: "waiting" | "running" | "ended" | "gone";
  /** The machine, for people; null before it has one. */
  readonly node: string | null;
  /** Why it waits, or why it ended; null when the engine gives no reason. */
  readonly problem: string | null;
  /** How often a process of it ended or could not be started; 0 of an ended one whose start broke off. */
  readonly endings: number;
  /** The exit code and more of an ended run, as far as the engine has them. */
  readonly exitCode?: number | null;
  readonly outOfMemory?: boolean;
  /** True when waiting can't help, such as for an image that is not there; absent for no. */
  readonly isHopeless?: boolean;
}

export type LeaseCommand =
  /** Its time counts from here. */
  | { readonly type: "begin" }
  /** A process on this machine has the run's claim. */
  | { readonly type: "claimed"; readonly node: string }
  /** A request of the run came. */
  | { readonly type: "heard" }
  | { readonly type: "reported"; readonly report: EngineReport }
  /** The run is to end: TERM, and KILL after so many ms. */
  | { readonly type: "stop"; readonly graceMs: number }
  /** Its end came. */
  | { readonly type: "end" };

export type LeaseEvent =
  /** Why it waits for a machine. */
  | { readonly type: "waits"; readonly text: string }
  /** It never began, and won't. */
  | { readonly type: "rejected"; readonly reason: string }
  /** It was stopped before it began. */
  | { readonly type: "stopped" }
  | { readonly type: "lost"; readonly reason: string }
  | { readonly type: "out-of-memory"; readonly exitCode: number | null }
  /** It was asked to end and did not. */
  | { readonly type: "overdue" };

export interface LeaseOptions {
  /** Without a request of the run for so long, it is lost. */
  readonly leaseMs: number;
  /** For so long it may wait for a machine. */
  readonly startMs: number;
  /** The machine that an earlier scheduler had its claim from; null before the claim. */
  readonly node: string | null;
  /** Whether an earlier scheduler started it; while none was up, its process may have given up. */
  readonly isAdopted: boolean;
}
