import type { LogLevel, Usage } from "../../../streams/vocabulary.ts";
import type { Job, JobModel } from "../../foundation/contracts/job.ts";
import type { LogKind } from "../../foundation/contracts/log-kinds.ts";
import type { RunMessage } from "../../foundation/contracts/run-messages.ts";
import type { RunRequests } from "./run-api/run-requests.ts";
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

/** Why a session failed that was asked to end: only the scheduler knows by a person, a timeout or its own stop. */
export const stoppedEarly = "it was stopped before it was done";

/** Where the models of a session answer. */
export interface ModelEndpoint {
  /** Base URL of a model, in place of `upstream`, the one that its provider has. */
  baseUrl(model: Pick<JobModel, "name">, upstream: string): string;
  /** Takes the place of the provider's key, which no run has. */
  readonly key: string;
  /** How many answers the end of a scheduler cut so far. */
  interruptions(): number;
}

/** What a harness is given for one session. */
export interface Session {
  readonly job: Job;
  /** The first and only user message. */
  readonly prompt: string;
  /** The whole environment of the agent's commands, credentials included. */
  readonly commandEnv: Readonly<Record<string, string>>;
  readonly emit: Emit;
  /** Aborts the session: the scheduler stops the run or is gone. */
  readonly signal: AbortSignal;
  readonly clock: RunClock;
  readonly endpoint: ModelEndpoint;
  /** What the agent can ask for while it runs. */
  readonly requests: RunRequests;
}

/** How a session ended; `error` is null when the agent came to its own end. */
export interface SessionEnd {
  readonly error: string | null;
  readonly usage: Usage;
  /** Present when the machine lacked something, such as disk space. */
  readonly blocked?: true;
  /** The exit code of the run's process, if the agent asked for one. */
  readonly exitCode?: number;
}

/** One way to run an agent's session. It resolves also when the model fails; a throw is a failure to start. */
export type Harness = (session: Session) => Promise<SessionEnd>;

export const noUsage: Usage = { model: null, tokens: null, costUsd: null, turns: null };
