import { stopReasons, type StopReason, type Outcome } from "../../../streams/outcomes.ts";
import type { LogLevel } from "../../../streams/vocabulary.ts";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job } from "../../foundation/contracts/job.ts";
import { logTo, type Emit, type SessionEnd } from "./harness.ts";
import { liveCall } from "./live-call.ts";
import { cut } from "./message-writer.ts";
import { lastLines, rawLines } from "./raw-lines.ts";
import type { RunClock } from "./run-clock.ts";
import { runCommand } from "./run-program.ts";
import { lastHooksMs, stopReasonFile } from "../wire/run-stop.ts";

type HookPhase = "pre" | "post";

export interface HookContext {
  readonly emit: Emit;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** How long one hook may take, in ms, by the clock of the run: a hook may wait for a person. */
  readonly timeoutMs: number;
  readonly activeMs?: RunClock["activeMs"];
  /** Removes the job's secrets from a text: a reason takes output apart, and a part of a secret is not recognized. */
  readonly redact: (text: string) => unknown;
}

export const hookTimeoutMs = 5 * 60_000;

/**
 * Runs the hooks of one phase in order, each in its own shell in the run's working directory, until one fails.
 * Resolves to a reason that begins with what the failed command said on stderr; null if all hooks succeeded.
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
  { emit, env, signal, timeoutMs, activeMs, redact }: HookContext,
): Promise<string | null> {
  const id = { call: randomUUID() };
  const log = (level: LogLevel, msg: string, fields: object) =>
    logTo(emit, "hook", level, msg, { phase, command: cut(command, 500), ...fields });
  log(30, `${phase} hook: ${cut(command, 500)}`, {});
  const lines = rawLines((line, stream) => log(30, line, { stream }));
  const errors: string[] = [];
  // Reports output beyond the limit of logged lines, and that a silent hook is still running.
  const live = liveCall((progress) => {
    const tool = `${phase} hook`;
    logTo(emit, "tool-output", 30, `${tool} still running`, { tool, ...id, ...progress });
  });
  const { exitCode, problem } = await runCommand(command, {
    cwd,
    env,
    signal,
    timeoutMs,
    activeMs,
    onLine: (line, stream) => {
      if (stream === "stderr" && isShown(line) && errors.push(line) > lastErrors) errors.shift();
      if (!lines.add(line, stream)) live.add(Buffer.from(`${line}\n`));
    },
  });
  live.end();
  if (lines.leftOut() > 0) log(40, `${lines.leftOut()} more lines of output left out`, {});
  const ended = { ...id, exitCode, durationMs: Date.now() - live.startedAt };
  if (problem === null && exitCode === 0) {
    log(30, `${phase} hook done`, ended);
    return null;
  }
  const place = `${phase} hook ${problem ?? `exited with code ${exitCode ?? "unknown"}`}`;
  const output = String(redact(lines.recent().join("\n"))).split("\n");
  // Lines that are left out of the log are quoted in its last one.
  const quoted = lines.leftOut() > 0 ? output.slice(-lastLines) : [];
  log(50, [place, ...quoted].join("\n"), ended);
  // A line that is missing in the output is a part of a secret over several lines.
  const said = String(redact(errors.join("\n")))
    .split("\n")
    .filter((line) => output.includes(line));
  const cause = tellingPart(said.filter(isShown)) ?? output.findLast(isShown);
  if (cause === undefined) return place;
  // The cause comes first, as a narrow column shows only the beginning. The command is in the log.
  const how = problem === null ? `${phase} hook, exit ${exitCode ?? "unknown"}` : place;
  return `${cut(cause.trim(), 500)} (${how})`;
}

const isShown = (line: string): boolean => line.trim() !== "";

/** How many of its last lines on stderr are looked through for the cause. */
const lastErrors = 8;
const telling =
  /\b(?:error|fatal|failed|failure|denied|refused|unable|cannot|can't|not found|no such)\b/i;

/** The last two lines that name an error, as git ends with advice; else the last line. Undefined without a line. */
function tellingPart(lines: readonly string[]): string | undefined {
  const causes = lines.filter((line) => telling.test(line)).slice(-2);
  return causes.length === 0 ? lines.at(-1) : causes.map((line) => line.trim()).join(" · ");
}

/**
 * Runs the post hooks after any end of the session, and resolves to the reason of the failed hook; null if all
 * succeeded. `stopping` aborts when the run is asked to end: from then on all hooks together have `lastHooksMs`.
 */
export async function runPostHooks(
  job: Job,
  { error, stopped }: SessionEnd,
  stopping: AbortSignal,
  context: HookContext,
): Promise<string | null> {
  if (job.hooks.post.length === 0) return null;
  const whole = stopped === true ? "stopped" : "succeeded";
  const ended = error === null ? whole : "failed";
  const outcome: Outcome = stopping.aborted ? await stopReason(job) : ended;
  const deadline = abortedAfter(stopping, lastHooksMs);
  try {
    return await runHooks("post", job, {
      ...context,
      env: { ...context.env, AL_OUTCOME: outcome },
      signal: AbortSignal.any([context.signal, deadline.signal]),
    });
  } finally {
    deadline.end();
  }
}

/** A signal that aborts `ms` after another one; `end` releases its timer. */
export function abortedAfter(other: AbortSignal, ms: number): { signal: AbortSignal; end(): void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => (timer = setTimeout(() => late.abort(), ms));
  if (other.aborted) begin();
  else other.addEventListener("abort", begin, { once: true });
  const end = () => {
    other.removeEventListener("abort", begin);
    clearTimeout(timer);
  };
  return { signal: late.signal, end };
}

/**
 * Why this run was asked to end, from the file that the scheduler wrote beside the run's socket. Without the file, the
 * signal came from elsewhere, such as a machine that shuts down: the run was interrupted.
 */
async function stopReason({ channel }: Job): Promise<StopReason> {
  if (channel === null) return "interrupted";
  const path = join(dirname(channel.socket), stopReasonFile);
  const text = await readFile(path, "utf8").catch(() => "");
  return stopReasons.find((reason) => reason === text) ?? "interrupted";
}
