import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fakeProvider } from "../runtime/harness/fake-provider.ts";
import type { FakeProvider, SeenRequest } from "../runtime/harness/fake-provider.ts";
import { claudeStream, codexStream, geminiStream } from "../runtime/harness/llm-cli/streams.ts";
import { testBase } from "../helpers/docker.ts";
import type { TestProject } from "../helpers/scheduler.ts";

export const harnesses = ["pi", "claude", "codex", "gemini"] as const;
export type HarnessName = (typeof harnesses)[number];

/** What no run may find, and credentials of agents, which prove that looking finds. */
export const words = {
  key: "canary-model-key-41d0",
  header: "canary-header-9ab2",
  /** In the scheduler's own environment. */
  variable: "canary-variable-c853",
  own: "canary-own-77f3",
  neighbour: "canary-neighbour-e60b",
};

/** A form in which no secret is looked for in what a run writes; look.mjs reads it. */
export const halves = (word: string): string =>
  `${word.replaceAll(/(.).?/g, "$1")}_${word.replaceAll(/.(.?)/g, "$1")}`;

const apis: Readonly<Record<HarnessName, string>> = {
  pi: "openai-completions",
  claude: "anthropic-messages",
  codex: "openai-responses",
  gemini: "google-generative-ai",
};

/** A project with an agent for each harness that looks around in its hooks and in its session, and its provider. */
export interface LookingProject extends TestProject {
  /** Of the project, its home and its programs. */
  readonly folder: string;
  readonly provider: FakeProvider;
}

export interface LookingOptions {
  /** `[runtime]` of the agents. */
  readonly runtime: string;
  /** Where they look beside their working directory. */
  readonly roots: readonly string[];
  /** More of the project's `[local]`. */
  readonly local?: string;
  /** Whether the command lines come with an image. */
  readonly inImage?: boolean;
}

export async function lookingProject(options: LookingOptions): Promise<LookingProject> {
  const folder = await mkdtemp(join(tmpdir(), "al-keys-"));
  await chmod(folder, 0o755);
  const all = Object.values(words).map(halves);
  const look = `node scripts/look.mjs ${[...all, "--", ...options.roots].join(" ")}`;
  const provider = await fakeProvider((request, response) => answer(look, request, response));
  const put = async (path: string, text: string, mode = 0o644): Promise<void> => {
    const isSecret = path.startsWith("home/");
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: isSecret ? 0o700 : 0o755 });
    await writeFile(join(folder, path), text, { mode });
  };
  await put("project/config.toml", projectConfig(provider.baseUrl, options.local ?? ""));
  await put("home/credentials/custom_key/default/key", words.key, 0o600);
  await put("home/credentials/my_own/default/word", words.own, 0o600);
  await put("home/credentials/my_neighbour/default/word", words.neighbour, 0o600);
  for (const harness of harnesses) {
    const agent = `project/agents/looker-${harness}`;
    const hooks = `pre = ["${look}"]\npost = ["${look}"]`;
    const program = options.inImage === true ? harness : join(folder, "bin", harness);
    await put(`${agent}/config.toml`, agentConfig({ harness, program, hooks }, options.runtime));
    await put(
      `${agent}/SKILL.md`,
      `---\nname: looker-${harness}\ndescription: Looks.\n---\nLook.\n`,
    );
    await mkdir(join(folder, agent, "scripts"));
    await copyFile(join(import.meta.dirname, "look.mjs"), join(folder, agent, "scripts/look.mjs"));
    await put(`bin/${harness}`, standIn(process.execPath, look), 0o755);
    if (options.inImage !== true || harness === "pi") continue;
    await put(`${agent}/${harness}`, standIn("/usr/bin/env node", look), 0o755);
    await put(`${agent}/Dockerfile`, `FROM al-agent:latest\nCOPY ${harness} /usr/local/bin/\n`);
  }
  const remove = async (): Promise<void> => {
    await provider.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { folder, provider, dir: join(folder, "project"), home: join(folder, "home"), remove };
}

/** Adds an agent of the scheduler's own user that sleeps in a hook, with the key at hand and a credential of its own. */
export async function addNeighbour({ dir }: TestProject): Promise<void> {
  const agent = join(dir, "agents/looker-neighbour");
  await mkdir(agent);
  const hooks = 'pre = ["sleep 20"]';
  const runtime = 'type = "host-user"\nrun_as = "$USER"';
  const config = agentConfig({ harness: "pi", program: "pi", hooks }, runtime);
  await writeFile(join(agent, "config.toml"), config.replace("my_own", "my_neighbour"));
  const skill = "---\nname: looker-neighbour\ndescription: Sleeps.\n---\nSleep.\n";
  await writeFile(join(agent, "SKILL.md"), skill);
}

function projectConfig(baseUrl: string, local: string): string {
  const models = harnesses.map(
    (harness) => `[models.for-${harness}]
provider = "custom"
model = "m-1"
api = "${apis[harness]}"
baseUrl = "${new URL(baseUrl).origin}"
headers = { "x-canary" = "${words.header}" }
`,
  );
  return `${models.join("")}[local]\nnetwork = "none"\nbase = "${testBase}"\n${local}\n`;
}

interface LookingAgent {
  readonly harness: HarnessName;
  readonly program: string;
  readonly hooks: string;
}

function agentConfig({ harness, program, hooks }: LookingAgent, runtime: string): string {
  const cli = `[harness]\ntype = "llm-cli"\ncommand = "${program}"\n`;
  return `models = ["for-${harness}"]
credentials = ["my_own"]
schedule = "0 0 29 2 *"
${harness === "pi" ? "" : cli}[hooks]
${hooks}
[runtime]
${runtime}
`;
}

/** A provider whose model calls one tool, then is done. It repeats what it was sent, as some do in their errors. */
function answer(
  look: string,
  { body, headers }: SeenRequest,
  response: Parameters<Parameters<typeof fakeProvider>[0]>[1],
): void {
  const call = { name: "bash", arguments: JSON.stringify({ command: look }) };
  const looksFirst = { index: 0, id: "call_1", function: call };
  const isFirst = !(body.messages ?? []).some(({ role }) => role === "tool");
  const content = `You sent ${JSON.stringify(headers)}.`;
  const delta = isFirst ? { role: "assistant", content, tool_calls: [looksFirst] } : { content };
  const choices = [{ index: 0, delta, finish_reason: isFirst ? "tool_calls" : "stop" }];
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunks = [
    { id: "x", choices },
    { id: "x", choices: [], usage },
  ];
  response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
}

/** Stands for claude, codex and gemini, by its name: asks its model once, looks around and ends as they do. */
function standIn(node: string, look: string): string {
  return `#!${node}
const { execSync } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { basename, dirname } = require("node:path");
const { env } = process;
const json = { "content-type": "application/json" };
const messages = [{ role: "user", content: "hi" }];
const clis = {
  claude: () => ({
    url: env.ANTHROPIC_BASE_URL + "/v1/messages",
    headers: { ...json, "x-api-key": env.ANTHROPIC_API_KEY, "anthropic-version": "2023-06-01" },
    body: { model: "m-1", max_tokens: 9, messages },
    stream: ${JSON.stringify(claudeStream)},
    say: (stream, text) => (stream[1].message.content[0].text = text),
  }),
  codex: () => ({
    url: /base_url = "(.*)"/.exec(readFileSync(env.CODEX_HOME + "/config.toml", "utf8"))[1] + "/responses",
    headers: { ...json, authorization: "Bearer " + env.CODEX_API_KEY },
    body: { model: "m-1", input: messages },
    stream: ${JSON.stringify(codexStream)},
    say: (stream, text) => (stream[3].item.text = text),
  }),
  gemini: () => ({
    url: env.GOOGLE_GEMINI_BASE_URL + "/v1beta/models/m-1:streamGenerateContent?alt=sse",
    headers: { ...json, "x-goog-api-key": env.GEMINI_API_KEY },
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    stream: ${JSON.stringify(geminiStream)},
    say: (stream, text) => (stream[2].content = text),
  }),
};
const { url, headers, body, stream, say } = clis[basename(process.argv[1])]();
fetch(url, { method: "POST", headers, body: JSON.stringify(body) }).then(async (answer) => {
  if (!answer.ok) throw new Error(await answer.text());
  globalThis.kept = await answer.text();
  const PATH = dirname(process.execPath) + ":" + env.PATH;
  say(stream, execSync(${JSON.stringify(look)}, { env: { ...env, PATH } }).toString());
  for (const line of stream) console.log(JSON.stringify(line));
});
`;
}
