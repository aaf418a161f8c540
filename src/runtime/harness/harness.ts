import type { LogLevel, Usage } from "../../../streams/vocabulary.ts";
import type { Job, JobModel } from "../../foundation/contracts/job.ts";
import type { LogKind } from "../../foundation/contracts/log-kinds.ts";
import type { RunMessage } from "../wire/run-messages.ts";
import type { People } from "./run-api/people.ts";
import type { RunRequests } from "./run-api/run-requests.ts";
import type { ModelVerdict } from "../wire/protocol.ts";
import type { RunMemory } from "./run-memory.ts";
import type { RunClock } from "./run-clock.ts";

/** Writes one message of the run. */
export type Emit = (message: RunMessage) => void;

/** Writes one line of the run's log. */
export function logTo(
  emit: Emit,
  kind: LogKind,
  level: LogLevel,
  msg: string,
  fields: Record<string, unknown> = {},
): void {
  emit({ type: "log", level, time: Date.now(), kind, msg, fields });
}

/** Why a stopped session failed; only the scheduler knows whether a person, a timeout or its own stop was the cause. */
export const stoppedEarly = "it was stopped before it finished";

/** The endpoint of a session's models. */
export interface ModelEndpoint {
  /** Base URL of a model, in place of `upstream`, the provider's own. */
  baseUrl(model: JobModel, upstream: string): string;
  /** Replaces the provider's key, which runs don't have. */
  readonly key: string;
  /**
   * The gateway's verdict on the call that was sent under this id, or the latest without one; null if it is not known,
   * as the scheduler was restarted. Rejects if the scheduler stays down.
   */
  verdictOn(call: string | undefined, signal: AbortSignal): Promise<ModelVerdict | null>;
}

/** Input of a harness for one session. */
export interface Session {
  readonly job: Job;
  /** The first user message of the run. */
  readonly prompt: string;
  /** The whole environment of the agent's commands, credentials included. */
  readonly commandEnv: Readonly<Record<string, string>>;
  readonly emit: Emit;
  /** Aborts the session: the scheduler stops the run or is gone. */
  readonly signal: AbortSignal;
  readonly clock: RunClock;
  readonly endpoint: ModelEndpoint;
  /** Performs the agent's requests while it runs. */
  readonly requests: RunRequests;
  /** The messages of people, and the sessions that they continue. */
  readonly people: People;
  /** Null without memories. */
  readonly memory: RunMemory | null;
}

/** How a session ended; `error` is null if the agent finished. */
export interface SessionEnd {
  readonly error: string | null;
  readonly usage: Usage;
  /** Present if the machine lacked a resource, such as disk space. */
  readonly blocked?: true;
  /** Present if a person ended it after a turn. */
  readonly stopped?: true;
  /** The exit code of the run's process, if the agent asked for one. */
  readonly exitCode?: number;
}

/** Runs an agent's session. Resolves even if the model fails; rejects if the session can't start. */
export type Harness = (session: Session) => Promise<SessionEnd>;

export const noUsage: Usage = { model: null, tokens: null, costUsd: null, turns: null };
