import type { ModelFailure } from "../../wire/protocol.ts";
import { stoppedEarly, type Session } from "../harness.ts";
import type { ProgramEnd } from "../run-program.ts";
import type { CliResult, LlmCli } from "./llm-cli.ts";

export interface CliOutcome {
  readonly end: ProgramEnd;
  readonly result: CliResult | null;
  /** Why its last call to the model failed, if the session did. */
  readonly cause: ModelFailure | null;
  /** Why the last answer is incomplete, by the program's files; null if it is complete. */
  readonly problem: string | null;
  /** The last lines of its output that were not messages. */
  readonly lastLines: readonly string[];
}

/** Why a session failed. */
export interface SessionFailure {
  /** For a person. */
  readonly message: string;
  /** How long the model should be skipped, in ms; null if waiting doesn't help. */
  readonly cooldownMs: number | null;
  /** How long the provider asks to wait, in ms. */
  readonly retryAfterMs?: number | undefined;
}

interface ModelProblem {
  readonly message: string;
  readonly cooldownMs?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Why the session failed, null if it did not. */
export function sessionFailure(
  outcome: CliOutcome,
  cli: LlmCli,
  model: string,
  { signal, job }: Session,
): SessionFailure | null {
  const { missing, problem } = outcome.end;
  if (signal.aborted) return lasting(stoppedEarly);
  if (missing) return lasting(notInstalled(cli, job.harness.command));
  if (problem !== null) return lasting(`${cli.program} ${problem}`);
  return cli.isPlain === true ? byExit(outcome, cli, model) : byResult(outcome, cli, model);
}

/** The exit code decides. */
function byExit(outcome: CliOutcome, { program }: LlmCli, model: string): SessionFailure | null {
  const { end, cause } = outcome;
  if (end.exitCode === 0) return null;
  return cause === null ? ended(program, "", outcome) : ofModel(model, cause);
}

/** The CLI's own result comes first, and its exit code must agree. */
function byResult(outcome: CliOutcome, { program }: LlmCli, model: string): SessionFailure | null {
  const { end, result, cause, problem } = outcome;
  if (result === null) return ended(program, ", without a result", outcome);
  if (result.error !== null) return ofModel(model, cause ?? { message: result.error });
  if (problem !== null) return ofModel(model, { message: problem });
  if (end.exitCode === 0) return null;
  return ended(`${program} emitted a result without an error, but`, "", outcome);
}

function ofModel(model: string, problem: ModelProblem): SessionFailure {
  const { message, cooldownMs = null, retryAfterMs } = problem;
  return { message: `model "${model}": ${message}`, cooldownMs, retryAfterMs };
}

/** With the last lines. */
function ended(who: string, how: string, { end, lastLines }: CliOutcome): SessionFailure {
  const code = end.exitCode === null ? "by a signal" : `with code ${end.exitCode}`;
  return lasting([`${who} ended ${code}${how}`, ...lastLines].join("\n"));
}

function lasting(message: string): SessionFailure {
  return { message, cooldownMs: null };
}

function notInstalled({ program, install }: LlmCli, command: string): string {
  const found = command === program ? "" : ` (command = "${command}")`;
  const missing = `${program} is not installed where this agent runs${found}`;
  if (install === null) return missing;
  return `${missing}; install it there with: ${install} — for a container: RUN ${install} in the agent's Dockerfile`;
}
