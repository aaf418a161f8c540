import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { listAgents, readAgent } from "../../../src/foundation/config/agent-files.ts";
import { loadProject } from "../../../src/foundation/config/resolve-project.ts";
import { resolveAgent } from "../../../src/foundation/config/resolve-agent.ts";
import { readScriptFile } from "../../../src/features/models/scripted.ts";
import { knownToAgents } from "../../../src/interfaces/operations/project-files.ts";
import { filterTable } from "../../../src/features/webhooks/providers/table.ts";
import { cliProject } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";

const cli = cliProject();
let dir: string;
beforeEach(() => void (dir = join(cli.projectDir, "made")));

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al new on a terminal (${noTerminal})\n`);

function read(path: string): string {
  return readFileSync(join(dir, path), "utf8");
}

/** The only agent of the new project, as the scheduler would have it. */
async function theAgent() {
  const { project, warnings } = await loadProject(dir, filterTable);
  const { names } = await listAgents(dir);
  const files = await readAgent(dir, names[0] ?? "");
  if (files === null) throw new Error("no agent");
  const change = resolveAgent(files, project, knownToAgents());
  if (change.type !== "set") throw new Error(JSON.stringify(change));
  return { project, agent: change.agent, warnings: [...warnings, ...change.warnings] };
}

test("al new makes a project without errors that runs with the scripted model", async () => {
  const { code, stdout, stderr } = await cli.al(`new ${dir}`);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toContain("agents/hello/SKILL.md");
  expect(stderr).toContain("al start --web-ui");
  const { agent, warnings } = await theAgent();
  expect(warnings).toEqual([]);
  expect(agent).toMatchObject({ name: "hello", runtime: { type: "host-user", runAs: "$USER" } });
  const script = await readScriptFile(agent.models[0]?.script ?? "");
  expect(script.turns.length).toBeGreaterThan(1);
});

test("al new needs one changed line for a real model", async () => {
  await cli.al(`new ${dir}`);
  const path = join(dir, "agents/hello/config.toml");
  const [, real = ""] = /# with a key: (\[.+\])/.exec(read("agents/hello/config.toml")) ?? [];
  writeFileSync(path, readFileSync(path, "utf8").replace('["scripted"]', real));
  const { agent } = await theAgent();
  expect(agent.models).toMatchObject([{ provider: "anthropic", credential: "anthropic_key" }]);
});

test("al new keeps the state out of git, and tells editors where the schemas are", async () => {
  await cli.al(`new ${dir}`);
  expect(read(".gitignore")).toMatch(/^\.al\/$/m);
  for (const [file, folder] of [
    ["config.toml", "."],
    ["agents/hello/config.toml", "agents/hello"],
  ] as const) {
    const [, path = ""] = /^#:schema (\S+)\n/.exec(read(file)) ?? [];
    const schema = JSON.parse(read(join(folder, path))) as { properties: object };
    expect(Object.keys(schema.properties)).toEqual(
      expect.arrayContaining(Object.keys(parse(read(file)))),
    );
  }
});

test("the agent of the README loads in the project of its own command, without a warning", async () => {
  const text = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
  const [, command = ""] = /^al new (.+)$/m.exec(text) ?? [];
  expect((await cli.al(["new", dir, ...command.split(" ").slice(1)])).code).toBe(0);
  rmSync(join(dir, "agents/hello"), { recursive: true });
  mkdirSync(join(dir, "agents/triage"));
  const files = [...text.matchAll(/^`(agents\/triage\/.+)`:\n\n```\w+\n([^]+?)^```$/gm)];
  for (const [, path = "", content = ""] of files) writeFileSync(join(dir, path), content);
  const [, added = ""] = /`config\.toml`[^`]+`al new`.*\n\n```toml\n([^]+?)^```$/m.exec(text) ?? [];
  appendFileSync(join(dir, "config.toml"), added);
  const { agent, warnings } = await theAgent();
  expect(warnings).toEqual([]);
  expect(agent).toMatchObject({ title: "Issue triage", models: [{}, {}], webhooks: [{}] });
});

test("al new takes everything from flags", async () => {
  const flags = ["--agent", "news-desk", "--provider", "custom", "--model", "my model"];
  const more = ["--base-url", "http://127.0.0.1:9/v1", "--schedule", "0 9 * * 1-5"];
  const { code, stdout, stderr } = await cli.al(["new", dir, ...flags, ...more, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ dir, agent: "news-desk", models: ["custom"] });
  const { agent } = await theAgent();
  expect(agent).toMatchObject({
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
])("al new takes the address %s of a server as %s, and prints that", async (typed, url) => {
  const flags = ["--provider", "custom", "--model", "m", "--base-url", typed];
  const { code, stderr } = await cli.al(["new", dir, ...flags]);
  expect(code).toBe(0);
  expect(stderr).toContain(`model custom is at ${url}\n`);
  expect((await theAgent()).agent.models).toMatchObject([{ baseUrl: url }]);
});

test("al new warns of an unknown model, and prints the values its runs assume", async () => {
  const flags = ["--provider", "openai", "--model", "gpt-6"];
  const { code, stderr } = await cli.al(["new", dir, ...flags]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/warning: model gpt: "gpt-6" is not in the list .* 272,000 tokens/);
  expect(stderr).toMatch(
    /^hello: 30 runs in 30 days by its schedule\. Its first runs show .* at most \$10\.00$/m,
  );
});

test("al new overwrites nothing, and writes nothing in that case", async () => {
  mkdirSync(join(dir, "agents/hello"), { recursive: true });
  writeFileSync(join(dir, "agents/hello/SKILL.md"), "mine");
  const { code, stdout, stderr } = await cli.al(`new ${dir}`);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`${dir}/agents/hello/SKILL.md already exists`);
  expect(read("agents/hello/SKILL.md")).toBe("mine");
  expect(existsSync(join(dir, "config.toml"))).toBe(false);
  expect(existsSync(join(dir, ".al"))).toBe(false);
});

test("al new refuses to make a project inside another one", async () => {
  mkdirSync(join(cli.projectDir, "agents"));
  const stderr = await cli.failure(`new ${dir}`);
  expect(stderr).toContain(`${dir} would be inside the project ${cli.projectDir}`);
  expect(stderr).toContain("hint: al agent new makes an agent in it");
  expect(existsSync(dir)).toBe(false);
});

test("al new names the next step for an existing project", async () => {
  const stderr = await cli.failure(`new ${cli.projectDir}`);
  expect(stderr).toContain("hint: al agent new");
});

test.each([
  [["--agent", "Hello!"], "--agent"],
  [["--schedule", "every day"], "--schedule"],
  [["--provider", "nobody"], "--provider"],
  [["--provider", "custom"], "--model is missing"],
  [["--base-url", "ftp://a.test"], '--base-url: "ftp://a.test" is not an address of a server'],
  [["--base-url", "me:pw@a.test"], "use a URL such as http://localhost:11434/v1"],
])("al new refuses %j as usage error", async (flags, text) => {
  const stderr = await cli.failure(["new", dir, ...flags], 2);
  expect(stderr).toContain(text);
  expect(existsSync(dir)).toBe(false);
});

describe.skipIf(noTerminal !== null)("al new on a terminal", () => {
  test("asks for the values that no flag has", async () => {
    const asked = onTerminal(cli, `new ${dir}`);
    await asked.until("Name of the first agent");
    asked.line("Not A Name");
    await asked.until("is not an agent's name");
    asked.key("\u0015");
    asked.line("greeter");
    await asked.until("Model provider");
    await asked.until("❯ scripted");
    expect(asked.shown()).toMatch(/Model provider\s+anthropic\s+openai\s+google\s/);
    asked.line("");
    await asked.until("When it runs");
    asked.line("");
    expect(await asked.ended).toBe(0);
    expect((await theAgent()).agent).toMatchObject({ name: "greeter", schedule: "* * * * *" });
  });

  test("Ctrl-C at a question leaves nothing behind", async () => {
    const terminal = onTerminal(cli, `new ${dir}`);
    await terminal.until("Name of the first agent");
    terminal.key("\u0003");
    expect(await terminal.ended).toBe(130);
    expect(terminal.shown()).not.toContain("    at ");
    expect(existsSync(dir)).toBe(false);
  });

  test("--yes asks nothing", async () => {
    const terminal = onTerminal(cli, `new ${dir} --yes`);
    expect(await terminal.ended).toBe(0);
    expect(existsSync(join(dir, "config.toml"))).toBe(true);
  });
});
