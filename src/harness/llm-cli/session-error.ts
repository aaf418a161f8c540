import type { Session } from "../harness.ts";
import { providerFailure } from "../provider-failure.ts";
import type { ProgramEnd } from "../run-program.ts";
import type { CliResult, LlmCli } from "./llm-cli.ts";

export interface CliOutcome {
  readonly end: ProgramEnd;
  readonly result: CliResult | null;
  /** What it printed last beside its messages. */
  readonly lastLines: readonly string[];
}

/**
 * Why the session failed, null when it did not. Its own word comes first and its exit code has to agree. A model
 * that is rate-limited or not available is reported, so that other runs leave it out for a while.
 */
export function sessionError(
  { end, result, lastLines }: CliOutcome,
  cli: LlmCli,
  model: string,
  { emit, signal, job }: Session,
): string | null {
  if (signal.aborted) return "it was told to end before it was done";
  if (end.missing) return notInstalled(cli, job.harness.command);
  if (end.problem !== null) return `${cli.program} ${end.problem}`;
  const code = end.exitCode === null ? "by a signal" : `with code ${end.exitCode}`;
  const withLines = (text: string) => [text, ...lastLines].join("\n");
  if (result === null) return withLines(`${cli.program} ended ${code}, without a result`);
  if (result.error !== null) {
    const { message, cooldownMs } = providerFailure(result.error);
    if (cooldownMs !== null) emit({ type: "cooldown", model, until: Date.now() + cooldownMs });
    return `model "${model}": ${message}`;
  }
  if (end.exitCode === 0) return null;
  return withLines(`${cli.program} said that it succeeded, but ended ${code}`);
}

function notInstalled({ program, install }: LlmCli, command: string): string {
  const found = command === program ? "" : ` (command = "${command}")`;
  return `${program} is not installed where this agent runs${found}; install it there with: ${install} — for a container: RUN ${install} in the agent's Dockerfile`;
}
