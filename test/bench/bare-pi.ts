import { tmpdir } from "node:os";
import { InMemoryCredentialStore } from "@earendil-works/pi-ai";
import type * as Pi from "@earendil-works/pi-coding-agent";

/**
 * The least that a process does to have pi ask a model, with pi's own bundle, which starts faster than its modules.
 * Argument: base URL of an OpenAI-compatible API.
 */
const bundle = new URL("bundle/index.js", import.meta.resolve("@earendil-works/pi-coding-agent"));
const { createAgentSession, ModelRuntime, SessionManager, SettingsManager } = (await import(
  bundle.href
)) as typeof Pi;
const [baseUrl = ""] = process.argv.slice(2);
const modelRuntime = await ModelRuntime.create({
  credentials: new InMemoryCredentialStore(),
  modelsPath: null,
  allowModelNetwork: false,
});
modelRuntime.registerProvider("bench", {
  baseUrl,
  api: "openai-completions",
  apiKey: "none",
  models: [
    {
      id: "bench",
      name: "bench",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 100_000,
      maxTokens: 1_000,
    },
  ],
});
const cwd = tmpdir();
const model = modelRuntime.getModel("bench", "bench");
if (model === undefined) throw new Error("the model was not registered");
const { session } = await createAgentSession({
  cwd,
  agentDir: `${cwd}/no-pi`,
  modelRuntime,
  model,
  sessionManager: SessionManager.inMemory(cwd),
  settingsManager: SettingsManager.inMemory({ retry: { enabled: false } }),
});
await session.prompt("Do it.");
session.dispose();
process.exit(0);
