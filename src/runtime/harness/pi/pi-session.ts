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
import { piProvider, type PiModel } from "./pi-models.ts";
import { systemPrompt } from "../prompt.ts";
import { toolsFor, type HarnessTool } from "../tools.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";

interface PiSessionParts {
  readonly first: PiModel;
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
  { first, extensions, onOutput }: PiSessionParts,
): Promise<AgentSession> {
  const { job, commandEnv, requests, people, signal } = session;
  const { mcp = [] } = job;
  const cwd = job.workDir;
  // Never created, so that pi finds no files there.
  const agentDir = join(cwd, ".no-pi");
  const settingsManager = SettingsManager.inMemory({
    // The harness retries by itself, as it sees the provider's hints.
    retry: { enabled: false, provider: { maxRetries: 0 } },
    compaction: compactionSettings(job.models),
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
  const isContinued = job.trigger.kind === "manual" && job.trigger.continues !== undefined;
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
    sessionManager: restoredSession(cwd, isContinued ? await people.session(signal) : []),
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

/** Smaller windows are divided by quarters: pi's own reserve of 16,384 tokens would leave too little of them. */
const smallWindow = 65_536;

/** When pi summarizes a session: before it outgrows even a small window. */
function compactionSettings(models: readonly JobModel[]): NonNullable<Settings["compaction"]> {
  const overrides = models.flatMap((model, index) => {
    const { contextWindow } = model;
    if (contextWindow === null || contextWindow >= smallWindow) return [];
    const quarter = Math.floor(contextWindow / 4);
    const tokens = { reserveTokens: quarter, keepRecentTokens: quarter };
    return [[`${piProvider(model, index)}/${model.model}`, tokens] as const];
  });
  return { enabled: true, modelOverrides: Object.fromEntries(overrides) };
}
