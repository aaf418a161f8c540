import type { RuntimeType } from "../runtimes.ts";
import type { LogLevel, Outcome } from "../vocabulary.ts";

export type AgentState = "idle" | "running" | "building" | "error";

/** One agent on the wire: the row of the dashboard. Times are ISO 8601 UTC. */
export interface AgentStatus {
  readonly name: string;
  readonly title: string;
  readonly description: string | null;
  readonly license: string | null;
  readonly state: AgentState;
  readonly statusText: string | null;
  readonly error: string | null;
  /** What is wrong and stops no run, such as a fallback model without its key. */
  readonly warning: string | null;
  readonly enabled: boolean;
  readonly lastRunAt: string | null;
  readonly lastDurationMs: number | null;
  readonly lastOutcome: Outcome | null;
  readonly nextRunAt: string | null;
  readonly running: number;
  readonly scale: number;
  readonly queued: number;
  readonly queueSize: number;
  /** Labels such as `cron 0 9 * * *`, `webhook github` and `callable`. */
  readonly triggers: readonly string[];
  readonly runtime: RuntimeType;
  readonly models: readonly string[];
}

/** The scheduler on the wire. */
export interface SchedulerStatus {
  readonly paused: boolean;
  /** It was told to stop, and lets runs finish. */
  readonly draining: boolean;
  readonly startedAt: string;
  readonly version: string;
  /** The project directory's name. */
  readonly project: string;
  readonly gatewayUrl: string | null;
  readonly running: number;
  readonly cronJobs: number;
  readonly webhookSources: readonly string[];
  /** What is wrong with the project's config.toml while the last good one stays in force. */
  readonly error: string | null;
  /** Directories that are no agents yet, though each holds a skill. */
  readonly warnings: readonly string[];
}

/** A log line on the status stream, its text cut to 500 characters. */
export interface RecentLog {
  /** Counts up by one a line, from 1 at each start of the scheduler; tells a reader which lines it has. */
  readonly seq: number;
  readonly time: string;
  readonly level: LogLevel;
  readonly agent: string;
  readonly instanceId: string | null;
  readonly msg: string;
}

/** A run that holds a resource, or waits for it. */
export interface LockClaim {
  /** A URI. */
  readonly resource: string;
  readonly agent: string;
  readonly instanceId: string;
  /** False while it waits. */
  readonly held: boolean;
  readonly since: string;
  /** When it is freed by itself; null while it waits. */
  readonly expiresAt: string | null;
}

/** What a claim is told apart by. */
export type LockClaimId = Pick<LockClaim, "resource" | "instanceId">;

/** Wire event `snapshot`: everything, once at connect; also `GET /control/status`. */
export interface StatusSnapshot {
  readonly scheduler: SchedulerStatus;
  readonly agents: readonly AgentStatus[];
  readonly recentLogs: readonly RecentLog[];
  readonly locks: readonly LockClaim[];
}

/** Wire event `update`: only what changed since the last event. */
export interface StatusUpdate {
  readonly scheduler?: SchedulerStatus;
  readonly agents?: readonly AgentStatus[];
  readonly removed?: readonly string[];
  readonly logs?: readonly RecentLog[];
  /** Claims that are new or changed. */
  readonly locks?: readonly LockClaim[];
  readonly unlocked?: readonly LockClaimId[];
}
