import type { Readable, Writable } from "node:stream";
import { jobSchema, type Job } from "../../foundation/contracts/job.ts";
import type { Emit, SessionEnd } from "./harness.ts";
import { messageWriter, cut, cutStart } from "./message-writer.ts";
import { failure, runPhases, type RunContext } from "./run-phases.ts";
import { firstLine } from "../wire/lines.ts";
import { maxDocumentBytes } from "../../foundation/contracts/body-limits.ts";
import type { RunMessage } from "../wire/run-messages.ts";

/** The most characters of a tool call's log line, and of its logged result. */
const maxCallCharacters = 320;
const maxReturnedCharacters = 8192;

/**
 * Redacts only the texts that people read: a secret that is an ordinary word must not break the message format. Texts
 * are cut after redaction, because half of a secret is not recognized.
 */
export function redactMessage(
  message: RunMessage,
  redact: (value: unknown) => unknown,
): RunMessage {
  if (message.type === "status") return { ...message, text: redact(message.text) as string };
  if (message.type !== "log") return message;
  const text = redact(message.msg) as string;
  const msg = message.kind === "tool" ? cut(text, maxCallCharacters) : text;
  const fields = redact(message.fields ?? {}) as Record<string, unknown>;
  if (message.kind === "tool-result" && typeof fields.output === "string") {
    // The end of a failed command's output explains the failure.
    const shorten = fields.isError === true ? cutStart : cut;
    fields.output = shorten(fields.output, maxReturnedCharacters);
  }
  return { ...message, msg, fields };
}

export interface RunJobOptions {
  readonly env: RunContext["env"];
  readonly agentProgram: RunContext["agentProgram"];
  /** Contains the job as its first line, and stays open while the scheduler is alive. */
  readonly input: Readable;
  /** Receives only the run's messages, as NDJSON. */
  readonly output: Writable;
  /** Aborted when the run is asked to end (SIGTERM). */
  readonly signal: AbortSignal;
  /** Returns a function that removes a job's secrets from a JSON-like value. */
  readonly redactorFor: (job: Job) => RunContext["redact"];
}

const exitCodes = { succeeded: 0, failed: 1, stopped: 143 } as const;

/**
 * Runs one job from its first line on `input` to its `end` message and resolves to the exit code of the process:
 * 0 if the agent finished, 1 if it failed, the code of al-exit if it used that, 143 if it was stopped. Never rejects.
 */
export async function runJob(options: RunJobOptions): Promise<number> {
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const writer = messageWriter(options.output, () => gone.abort());
  const end = await readJob(options.input, () => gone.abort())
    .then((job) => runRedacted(job, writer.emit, signal, options))
    .catch(failure);
  // A run that was stopped after its session had finished counts as finished.
  const isStopped = signal.aborted && end.error !== null;
  const blocked = end.blocked === true ? { blocked: true as const } : {};
  const stopped = end.stopped === true ? { stopped: true as const } : {};
  writer.emit({ type: "end", error: end.error, usage: { ...end.usage }, ...blocked, ...stopped });
  await writer.flush();
  if (isStopped) return exitCodes.stopped;
  return end.exitCode ?? (end.error === null ? exitCodes.succeeded : exitCodes.failed);
}

/** Removes the run's secrets from all of its output, which may be stored in transit. */
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

/**
 * Reads the job, one JSON document in the first line of `input`. The input stays open while the scheduler is alive:
 * `onGone` is called when it ends after the job. Rejects if it ends earlier or the job is invalid; the message names
 * the invalid fields but not their values, which may be secrets.
 */
async function readJob(input: Readable, onGone: () => void): Promise<Job> {
  const line = await firstLine(input, maxDocumentBytes);
  if (line === null) throw new Error("standard input ended before the complete job arrived");
  input.once("end", onGone).once("error", onGone).resume();
  const job = jobSchema.safeParse(jsonOf(line));
  if (job.success) return job.data;
  const fields = job.error.issues.map(({ path, code }) => `${path.join(".")} (${code})`);
  throw new Error(`the job on standard input is not valid: ${fields.join(", ")}`);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The parser's message would quote the job.
    throw new Error("the job on standard input is not JSON");
  }
}
