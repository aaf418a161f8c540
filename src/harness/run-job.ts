import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { harnesses } from "../../streams/harnesses.ts";
import type { HarnessType } from "../../streams/harnesses.ts";
import type { Job } from "../contracts/job.ts";
import type { RunMessage } from "../contracts/run-messages.ts";
import { messageOf } from "../errors.ts";
import { createRunRequests } from "./run-api/run-requests.ts";
import type { RunRequests } from "./run-api/run-requests.ts";
import { createRunApiClient } from "./run-api/client.ts";
import { openCommandSocket } from "./run-api/command-socket.ts";
import type { CommandSocket } from "./run-api/command-socket.ts";
import { createSessionExit } from "./run-api/session-exit.ts";
import type { SessionExit } from "./run-api/session-exit.ts";
import { commandEnv } from "./command-env.ts";
import { writeCredentialFiles } from "./credential-files.ts";
import { noUsage } from "./harness.ts";
import type { Emit, Harness, Session, SessionEnd, StartScripted } from "./harness.ts";
import { hookTimeoutMs, runHooks } from "./hooks.ts";
import type { HookContext } from "./hooks.ts";
import { inlineTimeoutMs, withCommandOutputs } from "./inline-commands.ts";
import { messageWriter } from "./message-writer.ts";
import { useNetwork } from "./network.ts";
import { promptFor } from "./prompt.ts";
import { runPostHooks } from "./post-hooks.ts";
import { readJob } from "./read-job.ts";
import { createRunClock } from "./run-clock.ts";
import type { RunClock } from "./run-clock.ts";
import { writeSkillFiles } from "./skill-files.ts";

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
  /** The program and the first arguments of the agent's commands; a command's name and arguments follow. */
  readonly agentProgram: readonly string[];
  /** Gives what takes a job's secrets out of a JSON-like value. */
  readonly redactorFor: (job: Job) => (value: unknown) => unknown;
}

/** By the value of `[harness].type`. A run loads its own harness only: pi alone takes half a second. */
const loaders: Record<HarnessType, () => Promise<Harness>> = {
  pi: async () => (await import("./pi/pi.ts")).runPi,
  "llm-cli": async () => (await import("./llm-cli/run-llm-cli.ts")).runLlmCli,
};

const exitCodes = { succeeded: 0, failed: 1, stopped: 143 } as const;

const payloadName = "webhook-payload";

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
    .then((job) => runJobRedacted(job, writer.emit, signal, options))
    .catch(failure);
  // One that was asked to end after its session is over has come to its own end.
  const isStopped = signal.aborted && end.error !== null;
  writer.emit({ type: "end", error: end.error, usage: { ...end.usage } });
  await writer.flush();
  if (isStopped) return exitCodes.stopped;
  return end.exitCode ?? (end.error === null ? exitCodes.succeeded : exitCodes.failed);
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
  const clock = createRunClock(job.timeoutSeconds);
  const sources = { ...options, emit: redacted, redact, clock };
  const end = await withRunRequests(job, sources, (requests) =>
    runPhases(job, { ...requests, emit: redacted, signal, clock }, options),
  ).catch(failure);
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

/** What an agent's requests need of the run. */
interface RunRequestSources extends Pick<RunJobOptions, "agentProgram" | "env"> {
  readonly emit: Emit;
  readonly redact: (value: unknown) => unknown;
  readonly clock: RunClock;
}

/** Runs the job with what its agent can ask for, as tools and as commands; that goes with the job. */
async function withRunRequests(
  job: Job,
  { emit, redact, agentProgram: program, env, clock }: RunRequestSources,
  run: (given: Pick<Surroundings, "requests" | "exit" | "commands">) => Promise<SessionEnd>,
): Promise<SessionEnd> {
  const exit = createSessionExit();
  const client = job.channel === null ? null : createRunApiClient(job.channel);
  const requests = pausing(createRunRequests({ job, emit, client, exit, redact }), clock);
  const { workDir, harness } = job;
  const ownHome = harnesses[harness.type].startsCommand && env.HOME === workDir;
  const commands = await openCommandSocket({
    ...{ workDir, requests, program, profileDir: ownHome ? workDir : null },
  }).catch((error: unknown) => {
    const msg = `the commands of this run (al-status and so on) do not work: ${messageOf(error)}`;
    emit({ type: "log", level: 40, time: Date.now(), kind: "run", msg });
    return null;
  });
  try {
    return await run({ requests, exit, commands });
  } finally {
    await commands?.close();
  }
}

/** The scheduler's clock of a run stands while the run waits for it. */
function pausing(requests: RunRequests, clock: RunClock): RunRequests {
  return {
    perform: (name, input, signal) => clock.pausedFor(() => requests.perform(name, input, signal)),
  };
}

function failure(error: unknown): SessionEnd {
  return { error: messageOf(error), usage: noUsage };
}

/** What the parts of a run share. */
interface Surroundings {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly clock: RunClock;
  readonly requests: RunRequests;
  readonly exit: SessionExit;
  /** Null where the agent's commands don't work. */
  readonly commands: CommandSocket | null;
}

/** Pre hooks and session; then the post hooks, however that ended. */
async function runPhases(
  job: Job,
  surroundings: Surroundings,
  { env, startScripted }: RunJobOptions,
): Promise<SessionEnd> {
  const { emit, signal, clock, requests, exit, commands } = surroundings;
  // Loaded before the hooks, which may take long: only then is the most expensive part of the start over.
  await loaders[job.harness.type]();
  emit({ type: "ready" });
  await writeSkillFiles(job);
  const payloadFile = await writePayload(job);
  const files = await writeCredentialFiles(job);
  const network = await useNetwork(job, (msg) => {
    emit({ type: "log", level: 40, time: Date.now(), kind: "run", msg });
  });
  const variables = commandEnv(job, env, { network, payloadFile, files, commands });
  const hooks = { emit, env: variables, timeoutMs: hookTimeoutMs };
  const timezone = env.TZ ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const prompt = promptFor(job, {
    ...{ timezone, now: Date.now(), payloadFile, commands: commands !== null },
  });
  const session = { job, prompt, commandEnv: variables, emit, clock, requests, startScripted };
  const stopping = AbortSignal.any([signal, exit.begin()]);
  const ended = await untilPost(session, { ...hooks, signal: stopping }).catch(failure);
  const sessionEnd = stopped(exited(ended, exit), signal);
  const error = await runPostHooks(job, sessionEnd, signal, { ...hooks, signal: exit.begin() });
  // What the post hooks do doesn't hide why the session failed.
  return sessionEnd.error === null ? exited({ ...sessionEnd, error }, exit) : sessionEnd;
}

/** A run that was asked to end before its session was over did not come to its own end. */
function stopped(end: SessionEnd, signal: AbortSignal): SessionEnd {
  const error = signal.aborted ? "it was told to end before it was done" : null;
  return { ...end, error: end.error ?? error };
}

/** Pre hooks, the commands in the instructions, and the session. */
async function untilPost(session: Omit<Session, "signal">, hooks: HookContext) {
  const { job } = session;
  const broken = await runHooks("pre", job, hooks);
  if (broken !== null || hooks.signal.aborted) return { error: broken, usage: noUsage };
  const instructions = await withCommandOutputs(job.instructions, {
    ...hooks,
    cwd: job.workDir,
    timeoutMs: inlineTimeoutMs,
  });
  return runSession(job.harness.type, {
    ...session,
    job: { ...job, instructions },
    signal: hooks.signal,
  });
}

/** What the agent asked for by al-exit counts, whatever came of the part that it ended. */
function exited(end: SessionEnd, exit: SessionExit): SessionEnd {
  const exitCode = exit.code();
  if (exitCode === null) return end;
  const error = exitCode === 0 ? null : `the agent ended its run with code ${exitCode}`;
  return { ...end, error, exitCode };
}

async function runSession(type: Job["harness"]["type"], session: Session): Promise<SessionEnd> {
  const harness = await loaders[type]();
  return harness(session);
}

/** The webhook's whole body as a file for the agent and its hooks; its path, or null without one. */
async function writePayload(job: Job): Promise<string | null> {
  if (job.payload === null) return null;
  const path = join(job.workDir, payloadName);
  await writeFile(path, job.payload, { mode: 0o600 });
  return path;
}
