import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { fakeProvider, type FakeProvider } from "../runtime/harness/fake-provider.ts";
import { messages } from "../runtime/harness/pi/wires/messages.ts";
import { testBase } from "../helpers/docker.ts";
import type { LiveProject } from "../helpers/live-project.ts";
import { scriptedAgents, turn } from "../helpers/scripted-agents.ts";

const days = 20;

const question = `{ question = "Deploy 1.4?", choices = ["yes", "no"], timeoutSeconds = ${days * 86_400} }`;
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
}

/** A project with one place for runs. Its agents `pi` and `claude` ask a person, `other` does not. */
export async function askingProject({ bin, runtimes }: AskingOptions) {
  const provider = await providerOfClaude();
  const [pi, claude] = runtimes;
  const end = (runtime: string) => `timeout = 120\n[runtime]\n${runtime}\n`;
  const project = await scriptedAgents(
    { pi: { turns: turn("al_ask", question, "I ask first."), config: end(pi) }, other: {} },
    `scale = 1
[models.claude]
provider = "custom"
model = "claude-sonnet-4-5"
api = "anthropic-messages"
baseUrl = "${new URL(provider.baseUrl).origin}"
[local]
base = "${testBase}"
`,
  );
  await project.store("custom_key", { key: "key-of-the-model" });
  if (bin !== null) {
    const program = project.path("../bin/claude");
    await project.write("agents/claude/SKILL.md", "Ask.\n");
    const config = `models = ["claude"]\ncredentials = []\ncallable = true\n${end(claude)}[harness]\ntype = "llm-cli"\ncommand = "${program}"\n`;
    await project.write("agents/claude/config.toml", config);
    await project.write("../bin/claude", shortDays(join(bin, "claude")), 0o755);
  }
  return { project, provider };
}

/** The model calls the shell once, and ends. */
const providerOfClaude = (): Promise<FakeProvider> =>
  fakeProvider(({ body }, response) => {
    const isAnswered = JSON.stringify(body.messages ?? []).includes('"tool_result"');
    const stream = isAnswered
      ? messages.stream({ kind: "text", text: "Done." })
      : messages.stream({ kind: "tool", command: commandOfClaude });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(stream.replaceAll('"name":"bash"', '"name":"Bash"'));
  });

/** The open questions, by their agents. */
export async function openQuestions(project: LiveProject) {
  const { questions } = await project.json<{ questions: readonly QuestionView[] }>(
    "/api/questions?state=open",
  );
  return new Map(questions.map((one) => [one.agent, one] as const));
}

/** The results of an agent's tools, as JSON of their log lines. */
export async function toolResults(project: LiveProject, agent: string): Promise<readonly string[]> {
  return (await project.entries(agent, "tool-result")).map((entry) => JSON.stringify(entry));
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
