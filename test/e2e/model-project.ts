import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SeenRequest } from "../runtime/harness/fake-provider.ts";
import type { TestProject } from "../helpers/scheduler.ts";

export interface ModelProject extends TestProject {
  /** Writes a file of the project's parent folder. */
  readonly put: (path: string, text: string, mode?: number) => Promise<void>;
}

export interface ModelProjectOptions {
  readonly baseUrl: string;
  /** More lines of `[models.m]`. */
  readonly model?: string;
  /** Lines at the end of the agent's config. */
  readonly agent?: string;
  /** Lines at the end of the project's config. */
  readonly project?: string;
}

/** A project whose agent `asker`, a run of this user, asks the one model that is at `baseUrl`: a dollar for 1,000 tokens. */
export async function modelProject(options: ModelProjectOptions): Promise<ModelProject> {
  const { baseUrl, model = "", agent = "", project = "" } = options;
  const folder = await mkdtemp(join(tmpdir(), "al-door-"));
  const put = async (path: string, text: string, mode = 0o644): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), text, { mode });
  };
  await put(
    "project/config.toml",
    `[models.m]
provider = "custom"
model = "m-1"
baseUrl = "${baseUrl}"
price = { input = 1000, output = 1000 }
maxTokens = 2000
maxRetries = 0
${model}
${project}
`,
  );
  await put(
    "project/agents/asker/config.toml",
    `models = ["m"]
credentials = []
callable = true
timeout = 120
${agent}
[runtime]
type = "host-user"
run_as = "$USER"
`,
  );
  await put("project/agents/asker/SKILL.md", "Ask.\n");
  await put("home/credentials/custom_key/default/key", "canary-key-of-the-model", 0o600);
  return {
    dir: join(folder, "project"),
    home: join(folder, "home"),
    put,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
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

/** Whether the model has not yet called a tool. */
export function isFirst({ body }: SeenRequest): boolean {
  return !(body.messages ?? []).some(({ role }) => role === "tool");
}

export interface StoredCall {
  readonly status: number | null;
  readonly input: number;
  readonly output: number;
  readonly estimated: number;
  /** Null once it is settled. */
  readonly reserved: number | null;
  readonly nano_usd: number;
}

/** The calls in the project's store, oldest first. */
export function storedCalls({ dir }: Pick<TestProject, "dir">): readonly StoredCall[] {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const columns = "status, input, output, estimated, reserved, nano_usd";
  const rows: readonly unknown[] = db
    .prepare(`SELECT ${columns} FROM model_calls ORDER BY seq`)
    .all();
  return rows as readonly StoredCall[];
}
