import { join } from "node:path";
import {
  createAgentSession,
  createBashToolDefinition,
  createLocalBashOperations,
  DefaultResourceLoader,
  defineTool,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";
import type { AgentSession, ExtensionFactory, ModelRuntime } from "@earendil-works/pi-coding-agent";
import { restoredSession } from "./kept-session.ts";
import { refusedAnswer, type RunRequests } from "../run-api/run-requests.ts";
import type { Session } from "../harness.ts";
import { memoryExtension } from "./memory-extension.ts";
import { mcpExtension, mcpToolNames } from "./mcp-tools.ts";
import type { PiModel } from "./pi-models.ts";
import { systemPrompt } from "../prompt.ts";
import { toolsFor, type HarnessTool } from "../tools.ts";

interface PiSessionParts {
  readonly first: PiModel;
  readonly models: readonly PiModel[];
  readonly extensions: ExtensionFactory[];
  /** Called with new output of a call's shell command. */
  readonly onOutput: OnOutput;
}

type OnOutput = (callId: string, chunk: Buffer) => void;

const builtInTools = ["read", "bash", "edit", "write"];

/** A session of pi with the job's instructions and tools, without the machine's own pi settings. */
export async function createPiSession(
  session: Session,
  modelRuntime: ModelRuntime,
  { first, models, extensions, onOutput }: PiSessionParts,
): Promise<AgentSession> {
  const { job, commandEnv, requests } = session;
  const { mcp = [] } = job;
  const cwd = job.workDir;
  // Never created, so that pi finds no files there.
  const agentDir = join(cwd, ".no-pi");
  const settingsManager = SettingsManager.inMemory({
    // The harness retries by itself, as it sees the provider's hints.
    retry: { enabled: false, provider: { maxRetries: 0 } },
    compaction: compactionSettings(models, job.sessionTokens),
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
    extensionFactories: [
      ...extensions,
      ...(mcp.length > 0 ? [await mcpExtension(mcp, session)] : []),
      ...(session.memory === null ? [] : [memoryExtension(session.memory)]),
    ],
  });
  await resourceLoader.reload();
  const tools = toolsFor(job);
  const created = await createAgentSession({
    cwd,
    agentDir,
    modelRuntime,
    model: first.model,
    thinkingLevel: first.thinkingLevel,
    tools: [...builtInTools, ...tools.map(({ name }) => name), ...mcpToolNames(mcp)],
    customTools: [
      bashTool(cwd, commandEnv, onOutput),
      ...tools.map((tool) => piTool(tool, requests)),
    ],
    resourceLoader,
    sessionManager: await restoredSession(job),
    settingsManager,
  });
  return created.session;
}

/** pi's own shell, whose output is also forwarded while it runs. */
function bashTool(cwd: string, commandEnv: Session["commandEnv"], onOutput: OnOutput) {
  const local = createLocalBashOperations();
  const bashFor = (callId: string) =>
    createBashToolDefinition(cwd, {
      exposeSessionEnvironment: false,
      spawnHook: (context) => ({ ...context, env: { ...commandEnv } }),
      operations: {
        exec: (command, dir, { onData, ...options }) =>
          local.exec(command, dir, {
            ...options,
            onData: (chunk) => {
              onData(chunk);
              onOutput(callId, chunk);
            },
          }),
      },
    });
  return defineTool({
    ...bashFor(""),
    execute: (callId, ...rest) => bashFor(callId).execute(callId, ...rest),
  });
}

/** The tool answers like the command of the same request: with one JSON object. A refusal is the tool's error. */
function piTool({ name, description, parameters, request }: HarnessTool, requests: RunRequests) {
  return defineTool({
    name,
    label: name,
    description,
    parameters,
    execute: async (_id, input, signal = neverAborted) => {
      const answer = await requests.perform(request, input, signal).catch(refusedAnswer);
      const text = JSON.stringify(answer);
      if (answer.ok !== true) throw new Error(text);
      return { content: [{ type: "text", text }], details: undefined };
    },
  });
}

const neverAborted = new AbortController().signal;

type Settings = NonNullable<Parameters<typeof SettingsManager.inMemory>[0]>;

/** pi's own reserve of an answer, in tokens. */
const ownReserve = 16_384;
/** Smaller windows are divided by quarters: that reserve would leave too little of them. */
const smallWindow = 65_536;

/** When pi summarizes a session: above this number of tokens, and before it outgrows even a small window. */
function compactionSettings(
  models: readonly PiModel[],
  most = Infinity,
): NonNullable<Settings["compaction"]> {
  const overrides = models.flatMap(({ model: { provider, id, contextWindow } }) => {
    if (contextWindow >= smallWindow && most >= contextWindow) return [];
    const reserve = contextWindow < smallWindow ? Math.floor(contextWindow / 4) : ownReserve;
    const reserveTokens = Math.max(reserve, contextWindow - most);
    const keepRecentTokens = Math.floor((contextWindow - reserveTokens) / 3);
    return [[`${provider}/${id}`, { reserveTokens, keepRecentTokens }] as const];
  });
  return { enabled: true, modelOverrides: Object.fromEntries(overrides) };
}
