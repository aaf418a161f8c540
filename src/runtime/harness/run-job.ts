import type { Readable, Writable } from "node:stream";
import type { Job } from "../../foundation/contracts/job.ts";
import type { Emit, SessionEnd } from "./harness.ts";
import { messageWriter } from "./message-writer.ts";
import { readJob } from "./read-job.ts";
import { redactMessage } from "./redact-message.ts";
import { failure, runPhases } from "./run-phases.ts";
import type { RunContext } from "./run-phases.ts";

export interface RunJobOptions extends Pick<RunContext, "env" | "agentProgram"> {
  /** Gives the job as its first line and stays open as long as the scheduler lives. */
  readonly input: Readable;
  /** Takes the run's messages as NDJSON, nothing else. */
  readonly output: Writable;
  /** Aborted when the run is asked to end (SIGTERM). */
  readonly signal: AbortSignal;
  /** Gives a function that removes a job's secrets from a JSON-like value. */
  readonly redactorFor: (job: Job) => RunContext["redact"];
}

const exitCodes = { succeeded: 0, failed: 1, stopped: 143 } as const;

/**
 * Runs one job from its first line on `input` to its `end` message and resolves to the exit code of the process:
 * 0 when the agent came to its own end, 1 when it failed or the code that it asked for, 143 when it was asked to
 * stop. Never rejects.
 */
export async function runJob(options: RunJobOptions): Promise<number> {
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const writer = messageWriter(options.output, () => gone.abort());
  const end = await readJob(options.input, () => gone.abort())
    .then((job) => runRedacted(job, writer.emit, signal, options))
    .catch(failure);
  // One that was asked to end after its session is over has come to its own end.
  const isStopped = signal.aborted && end.error !== null;
  const blocked = end.blocked === true ? { blocked: true as const } : {};
  writer.emit({ type: "end", error: end.error, usage: { ...end.usage }, ...blocked });
  await writer.flush();
  if (isStopped) return exitCodes.stopped;
  return end.exitCode ?? (end.error === null ? exitCodes.succeeded : exitCodes.failed);
}

/** Nothing that the run writes holds one of its secrets: its output may be stored on its way. */
async function runRedacted(
  job: Job,
  emit: Emit,
  signal: AbortSignal,
  { env, agentProgram, redactorFor }: RunJobOptions,
): Promise<SessionEnd> {
  const redact = redactorFor(job);
  const redacted: Emit = (message) => emit(redactMessage(message, redact));
  const context = { env, agentProgram, redact, signal, emit: redacted };
  const end = await runPhases(job, context).catch(failure);
  return { ...end, error: redact(end.error) as string | null };
}
