import type { Job } from "../contracts/job.ts";
import type { RunMessage } from "../contracts/run-messages.ts";
import type { Emit } from "./harness.ts";
import { cut } from "./message-writer.ts";
import { rawLines } from "./raw-lines.ts";
import { runCommand } from "./run-command.ts";

export type HookPhase = "pre" | "post";

export interface HookContext {
  readonly emit: Emit;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Milliseconds that one hook may take. */
  readonly timeoutMs: number;
}

export const hookTimeoutMs = 5 * 60_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Runs the hooks of one phase in order, each in its own shell in the run's working directory, until one fails.
 * The reason names the command and ends with its last lines; null when all went well.
 */
export async function runHooks(
  phase: HookPhase,
  job: Job,
  context: HookContext,
): Promise<string | null> {
  for (const command of job.hooks[phase]) {
    const problem = await runHook(phase, command, job.workDir, context);
    if (problem !== null) return problem;
  }
  return null;
}

async function runHook(
  phase: HookPhase,
  command: string,
  cwd: string,
  { emit, env, signal, timeoutMs }: HookContext,
): Promise<string | null> {
  const startedAt = Date.now();
  const log = (level: 30 | 40 | 50, msg: string, fields: Fields) =>
    emit(hookMessage(level, msg, { phase, command: cut(command, 500), ...fields }));
  log(30, `${phase} hook: ${cut(command, 500)}`, {});
  const lines = rawLines((line, stream) => log(30, line, { stream }));
  const { exitCode, problem } = await runCommand(command, {
    cwd,
    env,
    signal,
    timeoutMs,
    onLine: lines.add,
  });
  if (lines.leftOut() > 0) log(40, `${lines.leftOut()} more lines of output left out`, {});
  const ended = { exitCode, durationMs: Date.now() - startedAt };
  if (problem === null && exitCode === 0) {
    log(30, `${phase} hook done`, ended);
    return null;
  }
  const how = problem ?? `exited with code ${exitCode ?? "unknown"}`;
  const reason = [`${phase} hook "${cut(command, 500)}" ${how}`, ...lines.last()].join("\n");
  log(50, reason, ended);
  return reason;
}

function hookMessage(level: 30 | 40 | 50, msg: string, fields: Fields): RunMessage {
  return { type: "log", level, time: Date.now(), kind: "hook", msg, fields: { ...fields } };
}
