import { join } from "node:path";
import { InMemoryCredentialStore } from "@earendil-works/pi-ai";
import {
  createAgentSession,
  createBashToolDefinition,
  DefaultResourceLoader,
  defineTool,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { z } from "zod";
import { refusedAnswer } from "./abilities/abilities.ts";
import type { Abilities } from "./abilities/abilities.ts";
import type { Emit, Harness, Session, SessionEnd } from "./harness.ts";
import { modelFallback } from "./pi-fallback.ts";
import type { Fallback } from "./pi-fallback.ts";
import { preparePiModels } from "./pi-models.ts";
import type { PiModel } from "./pi-models.ts";
import { providerFailure } from "./provider-failure.ts";
import { sessionLog } from "./session-log.ts";
import { systemPrompt } from "./system-prompt.ts";
import { toolsFor } from "./tools.ts";
import type { HarnessTool } from "./tools.ts";

const builtInTools = ["read", "bash", "edit", "write"];

/**
 * Runs the session in pi, in this process: nothing is read from or written to pi's folders, keys stay in memory,
 * and commands get the environment of `session.commandEnv` only. Fails over along the job's models.
 */
export const runPi: Harness = async (session) => {
  const runtime = await ModelRuntime.create({
    credentials: new InMemoryCredentialStore(),
    modelsPath: null,
    allowModelNetwork: false,
  });
  const models = await preparePiModels(session.job.models, runtime, session.startScripted);
  try {
    for (const problem of models.problems) logRun(session.emit, 40, problem);
    const [first, ...others] = models.usable;
    if (first === undefined) {
      throw new Error(`no model can be used: ${models.problems.join("; ")}`);
    }
    await first.activate();
    const fallback = modelFallback([first, ...others], session.emit);
    const pi = await createSession(session, runtime, first, fallback);
    return await talk(pi, session, fallback);
  } finally {
    await models.close();
  }
};

async function talk(pi: AgentSession, session: Session, fallback: Fallback): Promise<SessionEnd> {
  const { emit, signal } = session;
  const log = sessionLog(emit, () => fallback.current().name);
  const abort = () => void pi.abort().catch(() => undefined);
  const unsubscribe = pi.subscribe(log.onEvent);
  try {
    await pi.bindExtensions({});
    const { name, model } = fallback.current();
    logRun(emit, 30, `session starts with model "${name}" (${model.id})`);
    signal.addEventListener("abort", abort, { once: true });
    if (!signal.aborted) await pi.prompt(session.prompt, { expandPromptTemplates: false });
  } finally {
    signal.removeEventListener("abort", abort);
    unsubscribe();
    pi.dispose();
  }
  const { name } = fallback.current();
  const { tokens, costUsd, turns } = log.usage();
  const usage = { model: name, tokens, turns, costUsd: fallback.priced() ? costUsd : null };
  return { error: sessionError(log.last(), name, signal), usage };
}

type LastMessage = { readonly stopReason: string; readonly errorMessage?: string } | null;

/** pi resolves whatever happens: what the model's last message says is what counts. */
function sessionError(last: LastMessage, model: string, signal: AbortSignal): string | null {
  // Whether a person, a timeout or the scheduler's stop told it, nobody says in here.
  if (signal.aborted) return "it was told to end before it was done";
  if (last === null) return "the session ended without an answer of the model";
  if (last.stopReason === "aborted") return "the session was aborted";
  if (last.stopReason !== "error") return null;
  const { message } = providerFailure(last.errorMessage ?? "no reason given");
  return `model "${model}": ${message}`;
}

async function createSession(
  { job, commandEnv, abilities }: Session,
  modelRuntime: ModelRuntime,
  first: PiModel,
  fallback: Fallback,
): Promise<AgentSession> {
  const cwd = job.workDir;
  // Never made: what pi looks for there is not found.
  const agentDir = join(cwd, ".no-pi");
  const settingsManager = SettingsManager.inMemory({
    retry: { enabled: false, provider: { maxRetries: 0 } },
    compaction: { enabled: true },
    cacheWarming: "off",
    enableInstallTelemetry: false,
    enableAnalytics: false,
  });
  const resourceLoader = new DefaultResourceLoader({
    cwd,
    agentDir,
    settingsManager,
    noExtensions: true,
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
    systemPromptOverride: () => systemPrompt(job.instructions, job.title),
    appendSystemPromptOverride: () => [],
    extensionFactories: [fallback.extension],
  });
  await resourceLoader.reload();
  const bash = createBashToolDefinition(cwd, {
    exposeSessionEnvironment: false,
    spawnHook: (context) => ({ ...context, env: { ...commandEnv } }),
  });
  const tools = toolsFor(job);
  const { session } = await createAgentSession({
    cwd,
    agentDir,
    modelRuntime,
    model: first.model,
    thinkingLevel: first.thinkingLevel,
    tools: [...builtInTools, ...tools.map(({ name }) => name)],
    customTools: [defineTool(bash), ...tools.map((tool) => piTool(tool, abilities))],
    resourceLoader,
    sessionManager: SessionManager.inMemory(cwd),
    settingsManager,
  });
  return session;
}

/** The tool answers as the command of the same ability does: with one JSON object. A refusal is the tool's error. */
function piTool({ name, description, parameters, ability }: HarnessTool, abilities: Abilities) {
  return defineTool({
    ...{ name, label: name, description },
    parameters: z.toJSONSchema(parameters),
    execute: async (_id, input, signal = neverAborted) => {
      const answer = await abilities.perform(ability, input, signal).catch(refusedAnswer);
      const text = JSON.stringify(answer);
      if (answer.ok !== true) throw new Error(text);
      return { content: [{ type: "text", text }], details: undefined };
    },
  });
}

const neverAborted = new AbortController().signal;

function logRun(emit: Emit, level: 30 | 40, msg: string): void {
  emit({ type: "log", level, time: Date.now(), kind: "run", msg });
}
