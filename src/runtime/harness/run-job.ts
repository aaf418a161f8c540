import type { Readable, Writable } from "node:stream";
import type { Job } from "../../foundation/contracts/job.ts";
import type { Emit, SessionEnd } from "./harness.ts";
import { messageWriter, cut, cutStart } from "./message-writer.ts";
import { failure, runPhases } from "./run-phases.ts";
import type { RunContext } from "./run-phases.ts";
import { maxDocumentBytes } from "../../foundation/contracts/body-limits.ts";
import { firstLine } from "../../foundation/contracts/first-line.ts";
import { jobSchema } from "../../foundation/contracts/job.ts";
import type { RunMessage } from "../../foundation/contracts/run-messages.ts";

/** Characters of the line of a tool's call, and of what it returned. */
const maxCallCharacters = 320;
const maxReturnedCharacters = 8192;

/**
 * Only what people read: a secret that is an ordinary word must not break the message itself. Texts are cut after that, as
 * half of a secret is not recognized as one.
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
    // A failure is explained at its end.
    const shorten = fields.isError === true ? cutStart : cut;
    fields.output = shorten(fields.output, maxReturnedCharacters);
  }
  return { ...message, msg, fields };
}

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

/**
 * Reads the job, one JSON document in the first line of `input`. The input stays open as long as the scheduler
 * lives: `onGone` is called when it ends after the job. Rejects when it ends before, or holds no job; the
 * message names the wrong fields and never their values, as they may be secrets.
 */
async function readJob(input: Readable, onGone: () => void): Promise<Job> {
  const line = await firstLine(input, maxDocumentBytes);
  if (line === null) throw new Error("standard input ended before a whole job came");
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
    // The parser's message quotes what it read.
    throw new Error("the job on standard input is not JSON");
  }
}
