import { openStore } from "../../../../src/features/open-store.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createQuestionStore } from "../../../../src/features/people/question-store.ts";
import type { Redacted } from "../../../../src/foundation/credentials/redactor.ts";
import type { Question } from "../../../../src/foundation/contracts/questions.ts";
import { manualItem, requestFor } from "../../../foundation/store/support.ts";
import { perFile } from "../../../helpers/per-test.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { makeFolders, type Folders } from "../fake-operator.ts";
import { shells } from "./shells.ts";

/** Lines typed in a shell, and its proposals. Paths may end in a slash or not. */
const lines: Readonly<Record<string, readonly string[]>> = {
  "al st": ["start", "stat", "status", "steer", "stop"],
  "al kill n": ["news-desk"],
  "al run hello ": [],
  "al run -- ": ["hello", "news-desk"],
  "al status --js": ["--json"],
  "al run --project=other ": ["elsewhere"],
  "al -p ot": ["other"],
  "al webhook send pay": ["payload.json"],
  "al logs -i ": ["hello-aaaaaaaa"],
  "al replay ": ["one"],
  "al _": [],
};

/** The same for which this process is asked, as the shells' scripts ask. */
const more: Readonly<Record<string, readonly string[]>> = {
  "al creds ": ["add", "help", "ls", "rm"],
  "al help cr": ["creds"],
  "al logs --f": ["--follow"],
  "al new --provider o": ["openai", "openrouter"],
  "al new --agent ": [],
  "al logs -p other ": ["elsewhere"],
  "al alerts test ": ["night-shift", "ops"],
  "al alerts list --state d": ["dead"],
  "al budget raise p": ["project"],
  "al answer ": ["5ec0ffee"],
  "al config --set gateway.p": ["gateway.port", "gateway.publicUrl"],
  "al config --unset models.main.base": ["models.main.baseUrl"],
  "al config hello --add network.": ["network.allow", "network.ask"],
  "al agent new x --model m": ["main"],
  "al new x --model m": [],
  "al webhook test payload.json -s ": ["hub"],
  "al creds add git_": ["git_ssh"],
  "al creds rm g": ["github_token"],
  "al show hello": ["hello", "hello-aaaaaaaa"],
};

const config = `[models.main]
provider = "openai"
[models.main.price]
input = 1
[webhooks.hub]
[models."$(touch pwned)"]
[alerts.ops]
type = "slack"
[ alerts . "night-shift" ]
[alerts.$(touch pwned)]
`;

const question: Question = {
  id: "0198c0de-7a11-7000-8000-00005ec0ffee",
  kind: "ask",
  agent: "hello",
  state: "open",
  instanceId: "hello-aaaaaaaa",
  subject: "1",
  at: 1,
  until: 2,
  form: { kind: "boolean" },
  gates: [],
  fallback: null,
  answer: null,
  answeredAt: null,
  by: null,
  prompt: "Deploy?\n\u001b]0;x\u0007\u202eNow?",
};

/** A project with names to propose, and some that are none or that a shell would run. */
async function makeNamed(): Promise<Folders> {
  const made = makeFolders();
  for (const dir of [
    "agents/hello",
    "agents/news-desk",
    "agents/$(touch pwned)",
    "agents/No Agent",
    "other/agents/elsewhere",
  ])
    made.write(`${dir}/config.toml`, "");
  mkdirSync(join(made.projectDir, "agents/without-config"));
  made.write("payload.json", "");
  made.write("config.toml", config);
  for (const credential of ["github_token/default", "$(touch pwned)/default"])
    mkdirSync(join(made.home, "credentials", credential), { recursive: true });
  const store = openStore(made.projectDir);
  const item = manualItem("one", "hello", Date.now());
  const content = { config: "", instructions: "" };
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, "hello-aaaaaaaa"), { hash: "h", content });
  // As the store of an earlier version has it, with all its characters.
  await store.tables(createQuestionStore).add(question as Redacted<Question>);
  store.close();
  const program = `#!/bin/sh\nAL_HOME=${made.home} exec ${process.execPath} ${builtAl} "$@"\n`;
  mkdirSync(join(made.projectDir, "../bin"));
  writeFileSync(join(made.projectDir, "../bin/al"), program, { mode: 0o755 });
  return made;
}

const folders = perFile(makeNamed, (made) => made.remove());

describe.each(shells)("the completion script of $name", (shell) => {
  const reason = shell.whyNot();
  if (reason !== null) process.stderr.write(`skipped: completion in ${shell.name} (${reason})\n`);

  test.skipIf(reason !== null)(
    "completes commands, options, their values, paths, names and ids",
    async () => {
      const { projectDir } = folders();
      const script = join(projectDir, `../al.${shell.name}`);
      writeFileSync(script, await folders().output(`completion ${shell.name}`));
      const answers = await shell.complete(script, projectDir, Object.keys(lines));
      const proposed = answers.map((words) => words.map((word) => word.replace(/\/$/, "")));
      expect(proposed).toEqual(Object.values(lines));
    },
  );
});

/** The answer to a shell whose cursor is behind the last of these words. */
async function completed(words: readonly string[]): Promise<readonly string[]> {
  const place = words.includes("-p") ? [] : ["-p", folders().projectDir];
  return (await folders().output(["_complete", "--", ...place, ...words])).split("\n");
}

test.each(Object.entries(more))("the shell completes %j with %j", async (line, words) => {
  const [, ...typed] = line.split(" ");
  const other = join(folders().projectDir, "other");
  const answer = await completed(typed.map((word) => (word === "other" ? other : word)));
  const proposed = answer.map((one) => one.split("\t")[0] ?? "");
  const current = typed.at(-1) ?? "";
  expect(proposed.filter((word) => word !== "" && word.startsWith(current)).sort()).toEqual(words);
});

test("the shell completes a question's id with the prompt in one line, without control sequences", async () =>
  expect(await completed(["answer", ""])).toEqual(["5ec0ffee\tDeploy? Now?", ""]));

test("the shell completes a config key with the first sentence of its description", async () => {
  const answer = await completed(["config", "--set", "gateway."]);
  const line = answer.find((one) => one.startsWith("gateway.port\t")) ?? "";
  expect(line).toMatch(/^gateway\.port\t(?!.*Expected:)[A-Z][^\t]+[^.]$/);
});
