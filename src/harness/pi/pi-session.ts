import { join } from "node:path";
import {
  createAgentSession,
  createBashToolDefinition,
  DefaultResourceLoader,
  defineTool,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";
import type { AgentSession, ExtensionFactory, ModelRuntime } from "@earendil-works/pi-coding-agent";
import { refusedAnswer } from "../run-api/run-requests.ts";
import type { RunRequests } from "../run-api/run-requests.ts";
import type { Session } from "../harness.ts";
import type { PiModel } from "./pi-models.ts";
import { systemPrompt } from "../system-prompt.ts";
import { toolsFor } from "../tools.ts";
import type { HarnessTool } from "../tools.ts";
import { compactionSettings } from "./compaction-settings.ts";

const builtInTools = ["read", "bash", "edit", "write"];

/** A session of pi with the job's instructions and tools, and nothing of the machine's pi. */
export async function createPiSession(
  { job, commandEnv, requests }: Session,
  modelRuntime: ModelRuntime,
  first: PiModel,
  extension: ExtensionFactory,
): Promise<AgentSession> {
  const cwd = job.workDir;
  // Never made: what pi looks for there is not found.
  const agentDir = join(cwd, ".no-pi");
  const settingsManager = SettingsManager.inMemory({
    // The harness retries by itself, with the provider's own word on when.
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
    extensionFactories: [extension],
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
    customTools: [defineTool(bash), ...tools.map((tool) => piTool(tool, requests))],
    resourceLoader,
    sessionManager: SessionManager.inMemory(cwd),
    settingsManager,
  });
  return session;
}

/** The tool answers as the command of the same request does: with one JSON object. A refusal is the tool's error. */
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
