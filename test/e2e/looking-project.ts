import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { ownUser } from "../helpers/command-agents.ts";
import { testBase } from "../helpers/docker.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { fakeProvider, type SeenRequest } from "../runtime/harness/fake-provider.ts";
import { claudeStream } from "../runtime/harness/llm-cli/streams.ts";

/** Looks for words in everything that a run can read. */
export const lookProgram = join(import.meta.dirname, "look.mjs");

export const harnesses = ["pi", "claude"] as const;
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
};

const agentConfig = (harness: HarnessName, own: string, more: string) =>
  `models = ["for-${harness}"]\ncredentials = ["${own}"]\nschedule = "0 0 29 2 *"\n${more}`;

/**
 * A project with an agent for each harness that looks around in its hooks and in its session: in its working directory
 * and in `roots`; and their provider.
 */
export async function lookingProject(runtime: string, roots: readonly string[]) {
  const all = Object.values(words).map(halves);
  const look = `node scripts/look.mjs ${[...all, "--", ...roots].join(" ")}`;
  const provider = await fakeProvider((request, response) => answer(look, request, response));
  const models = harnesses.map(
    (harness) => `[models.for-${harness}]
provider = "custom"
model = "m-1"
api = "${apis[harness]}"
baseUrl = "${new URL(provider.baseUrl).origin}"
headers = { "x-canary" = "${words.header}" }
`,
  );
  const project = await LiveProject.of({
    "project/config.toml": `${models.join("")}[local]\nnetwork = "none"\nbase = "${testBase}"\n`,
    "home/credentials/custom_key/default/key": words.key,
    "home/credentials/my_own/default/word": words.own,
    "home/credentials/my_neighbour/default/word": words.neighbour,
  });
  const program = project.path("../bin/claude");
  await project.write("../bin/claude", standIn(look), 0o755);
  for (const path of ["..", "../bin"]) await chmod(project.path(path), 0o755);
  for (const harness of harnesses) {
    const cli = harness === "pi" ? "" : `[harness]\ntype = "llm-cli"\ncommand = "${program}"\n`;
    const more = `${cli}[hooks]\npre = ["${look}"]\npost = ["${look}"]\n[runtime]\n${runtime}\n`;
    const agent = `agents/looker-${harness}`;
    await project.write(`${agent}/config.toml`, agentConfig(harness, "my_own", more));
    await project.write(`${agent}/SKILL.md`, "Look.\n");
    await project.write(`${agent}/scripts/.keep`, "");
    await copyFile(lookProgram, project.path(`${agent}/scripts/look.mjs`));
  }
  return { project, provider };
}

/** Adds an agent of the scheduler's own user that sleeps in a hook, with the key at hand and a credential of its own. */
export async function addNeighbour(project: LiveProject): Promise<void> {
  await project.write("agents/looker-neighbour/SKILL.md", "Sleep.\n");
  const more = `[hooks]\npre = ["sleep 20"]\n${ownUser}`;
  const config = agentConfig("pi", "my_neighbour", more);
  await project.write("agents/looker-neighbour/config.toml", config);
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

/** Stands for claude: asks its model once, looks around and ends as it does. */
function standIn(look: string): string {
  return `#!${process.execPath}
const { execSync } = require("node:child_process");
const { dirname } = require("node:path");
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key, ...env } = process.env;
const headers = { "content-type": "application/json", "x-api-key": key, "anthropic-version": "2023-06-01" };
const messages = [{ role: "user", content: "hi" }];
const body = JSON.stringify({ model: "m-1", max_tokens: 9, messages });
const stream = ${JSON.stringify(claudeStream)};
fetch(url + "/v1/messages", { method: "POST", headers, body }).then(async (answer) => {
  if (!answer.ok) throw new Error(await answer.text());
  globalThis.kept = await answer.text();
  const PATH = dirname(process.execPath) + ":" + env.PATH;
  stream[1].message.content[0].text = execSync(${JSON.stringify(look)}, { env: { ...env, PATH } }).toString();
  for (const line of stream) console.log(JSON.stringify(line));
});
`;
}
