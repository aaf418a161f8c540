import { copyFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { fakeProvider, type FakeProvider } from "../runtime/harness/fake-provider.ts";
import { messages } from "../runtime/harness/pi/wires/messages.ts";
import { testBase } from "../helpers/docker.ts";
import { LiveProject } from "../helpers/live-project.ts";

const question = { question: "Deploy 1.4?", choices: ["yes", "no"] };
const days = 20;

/** Asks, and says what it was told. */
const scriptOfPi = `[[turns]]
text = "I ask first."
[[turns.tools]]
name = "al_ask"
arguments = ${toml({ ...question, timeoutSeconds: days * 86_400 })}
[[turns]]
text = "I go on."
`;
const commandOfClaude = `al-ask "Deploy 1.4?" --choice yes --choice no --timeout ${days}d`;

/**
 * The real program, whose day is 8.64 s: the time limits of its shell are divided by 10,000, because no test can move the
 * clock of a program that is frozen.
 */
const shortDays = (claude: string): string => `#!/bin/sh
for name in BASH_DEFAULT_TIMEOUT_MS BASH_MAX_TIMEOUT_MS; do
  eval "value=\\$$name"
  export "$name=$((value / 10000))"
done
exec '${claude}' "$@"
`;

export interface AskingOptions {
  /** The folder of the real programs; null without them. */
  readonly bin: string | null;
  /** `[runtime]` of pi, and of claude. */
  readonly runtimes: readonly [pi: string, claude: string];
  /** Whether the runs are in containers. */
  readonly isContained: boolean;
}

/** A project with one place for runs. Its agents `pi` and `claude` ask a person, `other` does not. */
export async function askingProject({ bin, runtimes, isContained }: AskingOptions) {
  const provider = await providerOfClaude();
  const [pi, claude] = runtimes;
  const agent = (model: string, runtime: string, more = "") =>
    `models = ["${model}"]\ncredentials = []\nschedule = "0 0 29 2 *"\ntimeout = 120\n${more}[runtime]\n${runtime}\n`;
  const llmCli = (command: string) => `[harness]\ntype = "llm-cli"\ncommand = "${command}"\n`;
  const project = await LiveProject.of({
    "project/config.toml": `scale = 1
${["pi", "other"].map((name) => `[models.${name}]\nprovider = "scripted"\nscript = "${name}.script.toml"\n`).join("")}
[models.claude]
provider = "custom"
model = "claude-sonnet-4-5"
api = "anthropic-messages"
baseUrl = "${new URL(provider.baseUrl).origin}"
[local]
base = "${testBase}"
`,
    "project/pi.script.toml": scriptOfPi,
    "project/other.script.toml": '[[turns]]\ntext = "Done."\n',
    "project/agents/pi/SKILL.md": "Ask.\n",
    "project/agents/pi/config.toml": agent("pi", pi),
    "project/agents/other/SKILL.md": "Work.\n",
    "project/agents/other/config.toml": agent("other", 'type = "host-user"\nrun_as = "$USER"'),
    "home/credentials/custom_key/default/key": "key-of-the-model",
  });
  if (bin !== null) {
    const program = isContained ? "claude" : project.path("../bin/claude");
    await project.write("agents/claude/SKILL.md", "Ask.\n");
    await project.write("agents/claude/config.toml", agent("claude", claude, llmCli(program)));
    await placeClaude(project, join(bin, "claude"), isContained);
  }
  return { project, provider };
}

async function placeClaude(project: LiveProject, program: string, isContained: boolean) {
  if (!isContained) return project.write("../bin/claude", shortDays(program), 0o755);
  const image = "FROM al-agent:latest\nCOPY claude claude-real /usr/local/bin/\n";
  await project.write("agents/claude/Dockerfile", image);
  await copyFile(program, project.path("agents/claude/claude-real"));
  await project.write("agents/claude/claude", shortDays("/usr/local/bin/claude-real"), 0o755);
}

/** The model calls the shell once, and ends. */
async function providerOfClaude(): Promise<FakeProvider> {
  return fakeProvider(({ body }, response) => {
    const isAnswered = JSON.stringify(body.messages ?? []).includes('"tool_result"');
    const reply = isAnswered
      ? ({ kind: "text", text: "I go on." } as const)
      : ({ kind: "tool", command: commandOfClaude } as const);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(messages.stream(reply).replaceAll('"name":"bash"', '"name":"Bash"'));
  });
}

/** The open questions, by their agents. */
export async function openQuestions(project: LiveProject) {
  const { questions } = await project.json<{ questions: readonly QuestionView[] }>(
    "/api/questions?state=open",
  );
  return new Map(questions.map((one) => [one.agent, one] as const));
}

/** The results of an agent's tools, as JSON of their log lines. */
export async function toolResults({ dir }: LiveProject, agent: string): Promise<readonly string[]> {
  const query = { agent, instanceId: null, lines: 1_000, after: null };
  const lines = await createLogSource(dir).read(query);
  const results = lines.filter(({ entry }) => entry.kind === "tool-result");
  return results.map(({ entry }) => JSON.stringify(entry));
}

/** CPU time of all processes of a run of this machine, in ticks of 10 ms. */
export async function ticksOf(instanceId: string): Promise<number> {
  let ticks = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    const marks = `${await read("environ")}\0${await read("cmdline")}`;
    if (!marks.includes(instanceId)) continue;
    const fields = (await read("stat")).split(") ")[1]?.split(" ") ?? [];
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks;
}

function toml(value: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(value).map(([key, one]) => `${key} = ${JSON.stringify(one)}`);
  return `{ ${pairs.join(", ")} }`;
}
