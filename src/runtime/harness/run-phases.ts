import { existsSync } from "node:fs";
import { join } from "node:path";
import { counted } from "../../foundation/contracts/format.ts";
import { harnesses, sessionProgram, type HarnessType } from "../../../streams/harnesses.ts";
import type { Job, JobTree } from "../../foundation/contracts/job.ts";
import {
  writeCredentialFiles,
  writePrivate,
} from "../../foundation/credentials/credential-files.ts";
import { machineFault } from "../wire/machine-fault.ts";
import { messageOf } from "../../foundation/errors.ts";
import { createRunApiClient } from "./run-api/client.ts";
import { openCommandSocket, type CommandSocket } from "./run-api/command-socket.ts";
import { createPeople } from "./run-api/people.ts";
import { createRunRequests, type RunRequests } from "./run-api/run-requests.ts";
import { createSessionExit, type SessionExit } from "./run-api/signals.ts";
import { openBridge } from "./bridge/bridge.ts";
import { commandEnv } from "./command-env.ts";
import { logTo, noUsage, stoppedEarly } from "./harness.ts";
import type { Emit, Harness, ModelEndpoint, Session, SessionEnd } from "./harness.ts";
import { abortedAfter, hookTimeoutMs, runHooks, runPostHooks } from "./hooks.ts";
import { inlineTimeoutMs, withCommandOutputs } from "./inline-commands.ts";
import { cut } from "./message-writer.ts";
import { isClosed, networkVariables, withSshThroughBridge } from "./network.ts";
import { promptFor, systemPrompt } from "./prompt.ts";
import { openMemory, reportMemory } from "./open-memory.ts";
import { createRunClock } from "./run-clock.ts";
import { pieces } from "./transcript.ts";
import type { RunTrees } from "./trees.ts";

/** Context that all phases of a run share. */
export interface RunContext {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** The environment that the run was started with. */
  readonly env: NodeJS.ProcessEnv;
  /** The program and the first arguments of the agent's commands; a command's name and arguments follow. */
  readonly agentProgram: readonly string[];
  /** Removes the job's secrets from a JSON-like value. */
  readonly redact: (value: unknown) => unknown;
}

/** How long the files of a run that was asked to end may take, in ms. */
const lastPackMs = 4_000;

/** Loads a harness by the value of `[harness].type`. A run loads only its own harness: pi is a megabyte of code. */
const loaders: Record<HarnessType, () => Promise<Harness>> = {
  pi: async () => (await import("./pi/pi.ts")).runPi,
  "llm-cli": async () => (await import("./llm-cli/run-llm-cli.ts")).runLlmCli,
};

/** Runs pre hooks and session, then the post hooks after any result. */
export async function runPhases(job: Job, context: RunContext): Promise<SessionEnd> {
  const { emit, signal, env, redact } = context;
  const warn = (msg: string) => logTo(emit, "run", 40, msg);
  const clock = createRunClock(job.timeoutSeconds);
  const exit = createSessionExit();
  if (job.channel === null) throw new Error("this run has no socket to reach its models");
  await using bridge = await openBridge(job.channel, clock.pausedFor);
  const client = createRunApiClient(job.channel);
  let returned: unknown;
  const onReturn = (value: unknown) => void (returned = value);
  const memory = await openMemory(job);
  const all = createRunRequests({ job, emit, client, exit, redact, onReturn, memory });
  const scheduler: RunRequests = {
    // The scheduler, too, pauses a run's clock while the run waits for an answer.
    perform: (name, input, asked) => clock.pausedFor(() => all.perform(name, input, asked)),
  };
  await using mcp = await openMcp(job, scheduler, emit);
  const requests = mcp?.requests ?? scheduler;
  await using commands = await openCommands(job, requests, context).catch((error: unknown) => {
    warn(`the commands of this run (al-status and so on) do not work: ${messageOf(error)}`);
    return null;
  });
  // Loaded before `ready`, because this is the most expensive part of the start.
  const harness = await loaders[job.harness.type]();
  // The program may be replaced by the time of the post hooks.
  if (job.hooks.post.length > 0) await import("execa");
  await writeSkillFiles(job);
  const trees = openTrees(job, context);
  await trees.unpack();
  const delivered = await writeDelivered(job);
  const files = await writeCredentialFiles(job);
  emit({ type: "ready" });
  const closed = isClosed(job, env);
  const network = await networkVariables(job, closed ? bridge.proxyUrl : null);
  const open = commandEnv(job, env, { network, ...delivered, files, commands });
  const variables = closed ? withSshThroughBridge(open) : open;
  mcp?.start(variables);
  const begun = withSession(job, warn);
  const prompt = promptFor(begun, {
    timezone: env.TZ ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    now: Date.now(),
    ...delivered,
    commands: commands !== null,
  });
  const people = createPeople(client, redact, emit);
  const verdictOn: ModelEndpoint["verdictOn"] = async (call, asked) =>
    (await client.ask("model-verdict", { call }, asked)).verdict;
  const session = {
    job: begun,
    prompt,
    commandEnv: variables,
    emit,
    clock,
    requests,
    people,
    memory,
    endpoint: { ...bridge, verdictOn },
  };
  const stopping = AbortSignal.any([signal, exit.begin()]);
  const ended = await untilPost({ ...session, signal: stopping }, harness, redact).catch(failure);
  const sessionEnd = stopped(exited(ended, exit), signal);
  const { activeMs } = clock;
  const limits = { timeoutMs: hookTimeoutMs, activeMs };
  const hooks = { emit, env: variables, ...limits, redact, signal: exit.begin() };
  const over = new AbortController();
  // The hooks may take minutes.
  if (job.hooks.post.length > 0) void people.end(over.signal);
  const error = await runPostHooks(job, sessionEnd, signal, hooks).finally(() => over.abort());
  await reportMemory(memory, [sessionEnd.error, error], { client, signal });
  await trees.pack();
  // A failed session's error takes precedence over the result of the post hooks.
  if (sessionEnd.error !== null) return sessionEnd;
  return await checked(exited({ ...sessionEnd, error }, exit), job, returned);
}

/** A run that succeeded fails if its value does not meet the agent's schema; the scheduler reports a missing value. */
async function checked(
  end: SessionEnd,
  { valueSchema }: Job,
  returned: unknown,
): Promise<SessionEnd> {
  if (valueSchema === undefined || returned === undefined) return end;
  if (end.error !== null || end.stopped === true) return end;
  const { schemaMismatch } = await import("../../foundation/config/value-schema.ts");
  const error = schemaMismatch(valueSchema, returned);
  return error === null ? end : { ...end, error, exitCode: 1 };
}

export function failure(error: unknown): SessionEnd {
  const fault = machineFault(error, process.cwd());
  if (fault !== null) return { error: fault, usage: noUsage, blocked: true };
  return { error: messageOf(error), usage: noUsage };
}

/** The agent's MCP servers. Their code is loaded by runs that have some. */
async function openMcp({ mcp, workDir }: Job, requests: RunRequests, emit: Emit) {
  if (mcp === undefined) return null;
  const { createRunMcp } = await import("./mcp/run-mcp.ts");
  return createRunMcp(mcp, { requests, emit, workDir });
}

/** The run's trees. Their code is loaded by runs that receive files, or have left some. */
function openTrees(job: Job, { emit, env, signal }: RunContext) {
  const { trees = [], workDir } = job;
  const home = env.HOME ?? workDir;
  let loading: Promise<RunTrees> | undefined;
  const load = () =>
    (loading ??= import("./trees.ts").then((loaded) => loaded.createRunTrees(job, { home, emit })));
  const isThere = ({ put, path }: JobTree) =>
    put && existsSync(path.startsWith("~/") ? join(home, path.slice(2)) : join(workDir, path));
  return {
    unpack: async (): Promise<void> => {
      if (trees.some(({ get }) => get)) await (await load()).unpack(signal);
    },
    /** A run that was asked to end has a little time for it. */
    pack: async (): Promise<void> => {
      if (loading === undefined && !trees.some(isThere)) return;
      const deadline = abortedAfter(signal, lastPackMs);
      await (await load()).pack(deadline.signal);
      deadline.end();
    },
  };
}

/** A run whose session could not be received begins a new one. */
function withSession({ continues, ...job }: Job, warn: (text: string) => void): Job {
  if (continues === undefined) return job;
  const folder = sessionProgram(job.harness)?.folder ?? "";
  if (existsSync(join(job.workDir, folder))) return { ...job, continues };
  warn(`the session of ${continues.instanceId} is no longer stored: this run begins a new one`);
  return job;
}

function openCommands(
  { workDir, harness }: Job,
  requests: RunRequests,
  { agentProgram: program, env }: RunContext,
): Promise<CommandSocket> {
  const ownHome = harnesses[harness.type].startsCommand && env.HOME === workDir;
  return openCommandSocket({ workDir, requests, program, profileDir: ownHome ? workDir : null });
}

/** The checkout, pre hooks, the commands in the instructions, and the session. */
async function untilPost(
  session: Session,
  harness: Harness,
  redact: RunContext["redact"],
): Promise<SessionEnd> {
  const { job, emit, commandEnv: env, signal } = session;
  const { activeMs } = session.clock;
  if (job.workspace !== undefined) await (await import("./workspace.ts")).checkOut(session);
  const broken = await runHooks("pre", job, {
    emit,
    env,
    signal,
    timeoutMs: hookTimeoutMs,
    activeMs,
    redact,
  });
  if (broken !== null || signal.aborted) return { error: broken, usage: noUsage };
  const commands = { emit, env, signal, timeoutMs: inlineTimeoutMs, activeMs, cwd: job.workDir };
  const instructions = await withCommandOutputs(job.instructions, commands);
  logPrompt(session, systemPrompt(instructions, job.title), redact);
  return harness({ ...session, job: { ...job, instructions } });
}

/** The most characters of each prompt in the log, and of one piece: the search finds 4,096 of an entry. */
const maxPromptCharacters = 64_000;
const promptPieceCharacters = 4_000;

/** Logs the prompt that the model is given. Redacted before it is cut, because half of a secret is not recognized. */
function logPrompt({ emit, prompt }: Session, system: string, redact: RunContext["redact"]): void {
  const shown = (text: string) => cut(String(redact(text)), maxPromptCharacters);
  const text = `System prompt:\n\n${shown(system)}\n\nUser prompt:\n\n${shown(prompt)}`;
  const all = pieces(text, promptPieceCharacters);
  for (const [index, output] of all.entries()) {
    const part = all.length === 1 ? "" : `, part ${index + 1} of ${all.length}`;
    logTo(emit, "prompt", 30, `prompt of ${counted(text.length, "character")}${part}`, { output });
  }
}

/** The code of al-exit overrides the result of the phase that it ended. */
function exited(end: SessionEnd, exit: SessionExit): SessionEnd {
  const exitCode = exit.code();
  if (exitCode === null) return end;
  const error = exitCode === 0 ? null : `the agent ended its run with code ${exitCode}`;
  return { ...end, error, exitCode };
}

/** A run that was stopped before its session ended has failed. */
function stopped(end: SessionEnd, signal: AbortSignal): SessionEnd {
  const error = signal.aborted ? stoppedEarly : null;
  return { ...end, error: end.error ?? error };
}

/** Writes the skill's files to the paths by which SKILL.md refers to them. */
async function writeSkillFiles({ files = [], workDir }: Job): Promise<void> {
  for (const { path, content, executable } of files) {
    const mode = executable ? 0o700 : 0o600;
    await writePrivate(join(workDir, path), Buffer.from(content, "base64"), mode);
  }
}

/** Writes a webhook's whole body and all gathered deliveries for the agent and its hooks. A path is null without a text. */
async function writeDelivered({ workDir, payload, gathered }: Job) {
  const write = async (name: string, text: string | null) => {
    if (text === null) return null;
    const path = join(workDir, name);
    await writePrivate(path, text);
    return path;
  };
  return {
    payloadFile: await write("webhook-payload", payload),
    deliveriesFile: await write("webhook-deliveries", gathered?.deliveries ?? null),
  };
}
