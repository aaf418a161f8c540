import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createQuestionStore } from "../../../../src/features/people/question-store.ts";
import type { Redacted } from "../../../../src/foundation/credentials/redactor.ts";
import type { Question } from "../../../../src/foundation/contracts/questions.ts";
import { openStore } from "../../../../src/foundation/store/store.ts";
import { manualItem, requestFor } from "../../../foundation/store/support.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { makeFolders, type Folders } from "../fake-operator.ts";
import { shells } from "./shells.ts";

/** What is typed in a shell, and what it proposes. Paths may end in a slash or not. */
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
  "al run ": ["hello", "news-desk"],
  "al logs --fol": ["--follow"],
  "al logs --f": ["--follow"],
  "al stat --js": ["--json"],
  "al new --provider o": ["openai", "openrouter"],
  "al new --agent ": [],
  "al history --agent h": ["hello"],
  "al -p other logs ": ["elsewhere"],
  "al logs -p other ": ["elsewhere"],
  "al alerts ": ["ack", "help", "list", "retry", "snooze", "test"],
  "al alerts test ": ["night-shift", "ops"],
  "al alerts list --target n": ["night-shift"],
  "al alerts list --state d": ["dead"],
  "al budget raise p": ["project"],
  "al answer ": ["5ec0ffee"],
  "al config --set gateway.p": ["gateway.port", "gateway.publicUrl"],
  "al config --unset models.main.base": ["models.main.baseUrl"],
  "al config hello --add network.": ["network.allow", "network.ask"],
  "al agent new x --model m": ["main"],
  "al new x --model m": [],
  "al agent new x --webhook ": ["hub"],
  "al webhook test payload.json -s ": ["hub"],
  "al creds add git_": ["git_ssh"],
  "al creds rm g": ["github_token"],
  "al agent rm h": ["hello"],
  "al show hello": ["hello", "hello-aaaaaaaa"],
  "al kill hello-": ["hello-aaaaaaaa"],
  "al completion ": ["bash", "fish", "zsh"],
};

let folders: Folders;
beforeAll(async () => {
  folders = makeFolders();
  for (const agent of ["agents/hello", "agents/news-desk", "other/agents/elsewhere"])
    write(`${agent}/config.toml`);
  // Neither an agent nor to be run by a shell that is asked for one.
  write("agents/$(touch pwned)/config.toml");
  write("agents/No Agent/config.toml");
  mkdirSync(join(folders.projectDir, "agents/without-config"));
  write("payload.json");
  const tables =
    '[models.main]\nprovider = "openai"\n[models.main.price]\ninput = 1\n[webhooks.hub]\n[models."$(touch pwned)"]\n' +
    '[alerts.ops]\ntype = "slack"\n[ alerts . "night-shift" ]\n[alerts.$(touch pwned)]\n';
  writeFileSync(join(folders.projectDir, "config.toml"), tables);
  for (const credential of ["github_token/default", "$(touch pwned)/default"])
    mkdirSync(join(folders.home, "credentials", credential), { recursive: true });
  const store = openStore(folders.projectDir);
  const item = manualItem("one", "hello", Date.now());
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, "hello-aaaaaaaa"), {
    hash: "h",
    content: { config: "", instructions: "" },
  });
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
  // As the store of an earlier version has it, with all its characters.
  await store.tables(createQuestionStore).add(question as Redacted<Question>);
  store.close();
  const program = `#!/bin/sh\nAL_HOME=${folders.home} exec ${process.execPath} ${builtAl} "$@"\n`;
  mkdirSync(join(folders.projectDir, "../bin"));
  writeFileSync(join(folders.projectDir, "../bin/al"), program, { mode: 0o755 });
});
afterAll(() => folders.remove());

function write(path: string): void {
  const file = join(folders.projectDir, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "");
}

describe.each(shells)("$name", (shell) => {
  const reason = shell.whyNot();
  if (reason !== null) process.stderr.write(`skipped: completion in ${shell.name} (${reason})\n`);

  test.skipIf(reason !== null)(
    "the completion script completes commands, options, their values, paths, names and ids",
    async () => {
      const { code, stdout, stderr } = await folders.al(`completion ${shell.name}`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const script = join(folders.projectDir, `../al.${shell.name}`);
      writeFileSync(script, stdout);
      const answers = await shell.complete(script, folders.projectDir, Object.keys(lines));
      const proposed = Object.keys(lines).map((line, index) => [
        line,
        answers[index]?.map((word) => word.replace(/\/$/, "")),
      ]);
      expect(Object.fromEntries(proposed)).toEqual(lines);
    },
  );
});

test.each(Object.entries(more))("%j is completed with %j", async (line, words) => {
  const [, ...typed] = line.split(" ");
  const place = typed.includes("-p") ? [] : ["-p", folders.projectDir];
  const asked = typed.map((word) => (word === "other" ? join(folders.projectDir, word) : word));
  const { stdout } = await folders.al(["_complete", "--", ...place, ...asked]);
  const proposed = stdout.split("\n").map((one) => one.split("\t")[0] ?? "");
  const current = typed.at(-1) ?? "";
  expect(proposed.filter((word) => word !== "" && word.startsWith(current)).sort()).toEqual(words);
});

test("a question is proposed with its prompt in one line, without control sequences", async () => {
  const { stdout } = await folders.al(["_complete", "--", "-p", folders.projectDir, "answer", ""]);
  expect(stdout).toBe("5ec0ffee\tDeploy? Now?\n");
});

test("an unknown shell is a usage error that names the known ones", async () => {
  const { code, stderr } = await folders.al("completion tcsh");
  expect(code).toBe(2);
  expect(stderr).toContain("bash, zsh, fish");
});

test("a config key is completed with the first sentence of its description", async () => {
  const words = ["-p", folders.projectDir, "config", "--set", "gateway."];
  const { stdout } = await folders.al(["_complete", "--", ...words]);
  const line = stdout.split("\n").find((one) => one.startsWith("gateway.port\t")) ?? "";
  expect(line).toMatch(/^gateway\.port\t[A-Z][^\t]+[^.]$/);
  expect(line).not.toContain("Expected:");
});
