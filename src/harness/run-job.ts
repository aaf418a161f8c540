import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Job } from "../contracts/job.ts";
import type { RunMessage } from "../contracts/run-messages.ts";
import { messageOf } from "../errors.ts";
import { commandEnv } from "./command-env.ts";
import { writeCredentialFiles } from "./credential-files.ts";
import { noUsage } from "./harness.ts";
import type { Emit, Harness, Session, SessionEnd, StartScripted } from "./harness.ts";
import { hookTimeoutMs, runHooks } from "./hooks.ts";
import { inlineTimeoutMs, withCommandOutputs } from "./inline-commands.ts";
import { messageWriter } from "./message-writer.ts";
import { promptFor } from "./prompt.ts";
import { readJob } from "./read-job.ts";

export interface RunJobOptions {
  /** Gives the job as its first line and stays open as long as the scheduler lives. */
  readonly input: Readable;
  /** Takes the run's messages as NDJSON, nothing else. */
  readonly output: Writable;
  /** The environment that the run was started with. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborted when the run is asked to end (SIGTERM). */
  readonly signal: AbortSignal;
  readonly startScripted: StartScripted;
  /** Gives what takes a job's secrets out of a JSON-like value. */
  readonly redactorFor: (job: Job) => (value: unknown) => unknown;
}

/** Harnesses by the value of `[harness].type`; only the one that is asked for is loaded, as pi alone takes half a second. */
const harnesses: Record<Job["harness"]["type"], () => Promise<Harness>> = {
  pi: async () => (await import("./pi.ts")).runPi,
  "llm-cli": async () => (await import("./llm-cli/run-llm-cli.ts")).runLlmCli,
};

const exitCodes = { succeeded: 0, failed: 1, stopped: 143 } as const;

const payloadName = "webhook-payload";

/**
 * Runs one job from its first line on `input` to its `end` message and resolves to the exit code of the process:
 * 0 when the agent came to its own end, 1 when it failed, 143 when it was asked to stop. Never rejects.
 */
export async function runJob(options: RunJobOptions): Promise<number> {
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const writer = messageWriter(options.output, () => gone.abort());
  const end = await readJob(options.input, () => gone.abort())
    .then((job) => runJobRedacted(job, writer.emit, signal, options))
    .catch(failure);
  const stopped = signal.aborted;
  writer.emit({ type: "end", error: end.error, usage: { ...end.usage } });
  await writer.flush();
  if (stopped) return exitCodes.stopped;
  return end.error === null ? exitCodes.succeeded : exitCodes.failed;
}

/** Nothing that the run writes holds one of its secrets: who knows where its output is kept on its way. */
async function runJobRedacted(
  job: Job,
  emit: Emit,
  signal: AbortSignal,
  options: RunJobOptions,
): Promise<SessionEnd> {
  const redact = options.redactorFor(job);
  const redacted: Emit = (message) => emit(withoutSecrets(message, redact));
  const end = await runPhases(job, redacted, signal, options).catch(failure);
  return { ...end, error: redact(end.error) as string | null };
}

/** Only what people read: a secret that is an ordinary word must not break the message itself. */
function withoutSecrets(message: RunMessage, redact: (value: unknown) => unknown): RunMessage {
  if (message.type === "status") return { ...message, text: redact(message.text) as string };
  if (message.type !== "log") return message;
  const { msg, fields = {} } = message;
  return {
    ...message,
    msg: redact(msg) as string,
    fields: redact(fields) as Record<string, unknown>,
  };
}

function failure(error: unknown): SessionEnd {
  return { error: messageOf(error), usage: noUsage };
}

/** Pre hooks, session, post hooks; a failure or a stop ends it there. */
async function runPhases(
  job: Job,
  emit: Emit,
  signal: AbortSignal,
  { env, startScripted }: RunJobOptions,
): Promise<SessionEnd> {
  const payloadFile = await writePayload(job);
  const files = await writeCredentialFiles(job);
  const variables = commandEnv(job, env, { payloadFile, files });
  const hooks = { emit, env: variables, signal, timeoutMs: hookTimeoutMs };
  const broken = await runHooks("pre", job, hooks);
  if (broken !== null) return { error: broken, usage: noUsage };
  const instructions = await withCommandOutputs(job.instructions, {
    ...hooks,
    cwd: job.workDir,
    timeoutMs: inlineTimeoutMs,
  });
  const timezone = env.TZ ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const ended = await runSession(job.harness.type, {
    job: { ...job, instructions },
    prompt: promptFor(job, { timezone, now: Date.now(), payloadFile }),
    commandEnv: variables,
    emit,
    signal,
    startScripted,
  });
  if (ended.error !== null || signal.aborted) return ended;
  return { ...ended, error: await runHooks("post", job, hooks) };
}

async function runSession(type: Job["harness"]["type"], session: Session): Promise<SessionEnd> {
  const harness = await harnesses[type]();
  return harness(session);
}

/** The webhook's whole body as a file for the agent and its hooks; its path, or null without one. */
async function writePayload(job: Job): Promise<string | null> {
  if (job.payload === null) return null;
  const path = join(job.workDir, payloadName);
  await writeFile(path, job.payload, { mode: 0o600 });
  return path;
}
