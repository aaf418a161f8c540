import { LiveProject } from "../helpers/live-project.ts";

/**
 * A project whose agent `asker`, a run of this user, asks the one model that is at `baseUrl`: a dollar for 1,000 tokens.
 * `project` ends the project's config.
 */
export function modelProject({ baseUrl = "", project = "" }): Promise<LiveProject> {
  return LiveProject.of({
    "project/config.toml": `[models.m]
provider = "custom"
model = "m-1"
baseUrl = "${baseUrl}"
price = { input = 1000, output = 1000 }
maxTokens = 2000
maxRetries = 0
${project}
`,
    "project/agents/asker/config.toml": `models = ["m"]
credentials = []
callable = true
timeout = 120
[runtime]
type = "host-user"
run_as = "$USER"
`,
    "project/agents/asker/SKILL.md": "Ask.\n",
    "home/credentials/custom_key/default/key": "canary-key-of-the-model",
  });
}

/** Server-sent events of chat completions, with the usage at the end. */
export function chatEvents(...deltas: readonly object[]): string {
  const chunks = deltas.map((delta) => ({ id: "x", choices: [{ index: 0, delta }] }));
  const hasCall = deltas.some((delta) => "tool_calls" in delta);
  const end = { index: 0, delta: {}, finish_reason: hasCall ? "tool_calls" : "stop" };
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  const all = [...chunks, { id: "x", choices: [end] }, { id: "x", choices: [], usage }];
  const events = all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return `${events.join("")}data: [DONE]\n\n`;
}

/** A call of the agent's shell. */
export function bashCall(command: string): object {
  const call = { name: "bash", arguments: JSON.stringify({ command }) };
  return { role: "assistant", tool_calls: [{ index: 0, id: "call_1", function: call }] };
}
