import { stoppedEarly } from "../harness.ts";
import type { Session } from "../harness.ts";
import { providerFailure } from "../provider-failure.ts";
import type { ProgramEnd } from "../run-program.ts";
import type { CliResult, LlmCli } from "./llm-cli.ts";

export interface CliOutcome {
  readonly end: ProgramEnd;
  readonly result: CliResult | null;
  /** Why the last answer is not a whole one, by what the program left; null when it is. */
  readonly problem: string | null;
  /** The last lines of its output that were no messages. */
  readonly lastLines: readonly string[];
}

/** Why a session failed. */
export interface SessionFailure {
  /** For a person. */
  readonly message: string;
  /** For how long the model should be left out, in ms; null when waiting doesn't help. */
  readonly cooldownMs: number | null;
}

/** Why the session failed, null when it did not. The CLI's own result comes first, and its exit code has to agree. */
export function sessionFailure(
  { end, result, problem, lastLines }: CliOutcome,
  cli: LlmCli,
  model: string,
  { signal, job }: Session,
): SessionFailure | null {
  if (signal.aborted) return lasting(stoppedEarly);
  if (end.missing) return lasting(notInstalled(cli, job.harness.command));
  if (end.problem !== null) return lasting(`${cli.program} ${end.problem}`);
  const code = end.exitCode === null ? "by a signal" : `with code ${end.exitCode}`;
  const withLines = (text: string) => lasting([text, ...lastLines].join("\n"));
  if (result === null) return withLines(`${cli.program} ended ${code}, without a result`);
  if (result.error !== null) {
    const { message, cooldownMs } = providerFailure(result.error);
    return { message: `model "${model}": ${message}`, cooldownMs };
  }
  if (problem !== null) return lasting(`model "${model}": ${problem}`);
  if (end.exitCode === 0) return null;
  return withLines(`${cli.program} emitted a result without an error, but ended ${code}`);
}

function lasting(message: string): SessionFailure {
  return { message, cooldownMs: null };
}

function notInstalled({ program, install }: LlmCli, command: string): string {
  const found = command === program ? "" : ` (command = "${command}")`;
  return `${program} is not installed where this agent runs${found}; install it there with: ${install} — for a container: RUN ${install} in the agent's Dockerfile`;
}
