import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { readScriptFile } from "../../../src/features/models/scripted.ts";
import { serverUrl } from "../../../src/interfaces/cli/new/server-url.ts";
import { cliProject } from "./fake-operator.ts";
import { resolvedAgents } from "./resolved-agents.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";
import { noteSkipped } from "../../helpers/note-skipped.ts";

const cli = cliProject();
let dir: string;
beforeEach(() => void (dir = join(cli.projectDir, "made")));

const noTerminal = whyNoTerminal();
noteSkipped("al new on a terminal", noTerminal);

const read = (path: string) => cli.read(`made/${path}`);

/** The only agent of the new project, as the scheduler would have it. */
async function theAgent() {
  const [only] = await resolvedAgents(dir);
  if (only?.type !== "set") throw new Error(JSON.stringify(only));
  return only.agent;
}

test("al new makes a project without errors that runs with the scripted model", async () => {
  const { code, stdout, stderr } = await cli.al(`new ${dir}`);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toContain("agents/hello/SKILL.md");
  expect(stderr).toContain("al start --web-ui");
  expect(await resolvedAgents(dir)).toMatchObject([{ warnings: [] }]);
  const agent = await theAgent();
  expect(agent).toMatchObject({ name: "hello", runtime: { type: "host-user", runAs: "$USER" } });
  const script = await readScriptFile(agent.models[0]?.script ?? "");
  expect(script.turns.length).toBeGreaterThan(1);
});

test("al new makes a project that needs one changed line for a real model", async () => {
  await cli.output(`new ${dir}`);
  const config = read("agents/hello/config.toml");
  const [, real = ""] = /# with a key: (\[.+\])/.exec(config) ?? [];
  cli.write("made/agents/hello/config.toml", config.replace('["scripted"]', real));
  const models = [{ provider: "anthropic", credential: "anthropic_key" }];
  expect(await theAgent()).toMatchObject({ models });
});

test("al new excludes the project's state from git, and tells editors where the schemas are", async () => {
  await cli.output(`new ${dir}`);
  expect(read(".gitignore")).toMatch(/^\.al\/$/m);
  for (const [file, folder] of [
    ["config.toml", "."],
    ["agents/hello/config.toml", "agents/hello"],
  ] as const) {
    const [, path = ""] = /^#:schema (\S+)\n/.exec(read(file)) ?? [];
    const schema = JSON.parse(read(join(folder, path))) as { properties: object };
    const keys = Object.keys(parse(read(file)));
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(keys));
  }
});

test("the README's agent loads without a warning in a project made by the README's al new", async () => {
  const text = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
  const [, command = ""] = /^al new (.+)$/m.exec(text) ?? [];
  await cli.output(["new", dir, ...command.split(" ").slice(1)]);
  rmSync(join(dir, "agents/hello"), { recursive: true });
  const files = [...text.matchAll(/^`(agents\/triage\/.+)`:\n\n```\w+\n([^]+?)^```$/gm)];
  for (const [, path = "", content = ""] of files) cli.write(`made/${path}`, content);
  const [, added = ""] = /`config\.toml`[^`]+`al new`.*\n\n```toml\n([^]+?)^```$/m.exec(text) ?? [];
  appendFileSync(join(dir, "config.toml"), added);
  const agent = { title: "Issue triage", models: [{}, {}], webhooks: [{}] };
  expect(await resolvedAgents(dir)).toMatchObject([{ agent, warnings: [] }]);
});

test("al new can take all settings from flags", async () => {
  const model = "--provider custom --model 'my model' --base-url 127.0.0.1:9";
  const flags = `--agent news-desk ${model} --schedule '0 9 * * 1-5'`;
  const { stderr } = await cli.al(`new ${dir} ${flags}`);
  expect(stderr).toContain("model custom is at http://127.0.0.1:9/v1\n");
  expect(await theAgent()).toMatchObject({
    name: "news-desk",
    title: "News desk",
    schedule: "0 9 * * 1-5",
    models: [{ provider: "custom", model: "my model", baseUrl: "http://127.0.0.1:9/v1" }],
  });
});

test.each([
  ["localhost:11434", "http://localhost:11434/v1"],
  ["10.1.2.3:8000/api/", "http://10.1.2.3:8000/api/"],
  ["[::1]:1234", "http://[::1]:1234/v1"],
  ["nas", "http://nas/v1"],
  ["llm.example.com", "https://llm.example.com/v1"],
  ["HTTP://llm.example.com", "HTTP://llm.example.com"],
])("serverUrl completes the address %s to %s", (typed, url) => expect(serverUrl(typed)).toBe(url));

test("al new warns of an unknown model, and prints the expected runs and costs", async () => {
  const { code, stderr } = await cli.al(`new ${dir} --provider openai --model gpt-6`);
  expect(code).toBe(0);
  expect(stderr).toContain('warning: model gpt: "gpt-6" is not in the list');
  expect(stderr).toMatch(
    /^hello will run about 30 times in 30 days\. A run can spend at most \$10\.00\. `al cost`/m,
  );
});

test("al new writes nothing if a file would be overwritten", async () => {
  cli.write("made/agents/hello/SKILL.md", "mine");
  await cli.fails(`new ${dir}`, `${dir}/agents/hello/SKILL.md already exists`);
  expect(read("agents/hello/SKILL.md")).toBe("mine");
  for (const path of ["config.toml", ".al"]) expect(existsSync(join(dir, path))).toBe(false);
});

describe.skipIf(noTerminal !== null)("al new on a terminal", () => {
  test("asks for the values that no flag has", async () => {
    const asked = onTerminal(cli, `new ${dir}`);
    await asked.answer(["Name of the first agent", "Not A Name"]);
    await asked.until("is not an agent's name");
    asked.key("\u0015");
    asked.line("greeter");
    await asked.until("Model provider");
    await asked.until("❯ None yet");
    expect(asked.shown()).toMatch(/Model provider\s+Anthropic \(Claude\)\s+OpenAI \(GPT\)\s/);
    asked.line("");
    await asked.answer(["When it runs", ""]);
    expect(await asked.ended).toBe(0);
    expect(await theAgent()).toMatchObject({ name: "greeter", schedule: "* * * * *" });
  });

  test("leaves nothing behind after Ctrl-C at a question", async () => {
    const terminal = onTerminal(cli, `new ${dir}`);
    await terminal.until("Name of the first agent");
    terminal.key("\u0003");
    expect(await terminal.ended).toBe(130);
    expect(terminal.shown()).not.toContain("    at ");
    expect(existsSync(dir)).toBe(false);
  });

  test("asks nothing with --yes", async () => {
    expect(await onTerminal(cli, `new ${dir} --yes`).ended).toBe(0);
    expect(existsSync(join(dir, "config.toml"))).toBe(true);
  });
});
