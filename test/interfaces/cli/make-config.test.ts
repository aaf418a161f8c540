import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolders } from "./fake-operator.ts";
import type { Folders } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al config on a terminal (${noTerminal})\n`);

const project = `[webhooks.hub]
type = "github"
allowUnsigned = true

[models.main]
provider = "scripted"
script = "main.script.toml"

[models.other]
provider = "openai"
model = "gpt-5"
`;

const at = "agents/skillonly/config.toml";

let folders: Folders;
beforeEach(() => {
  folders = makeFolders();
  write("config.toml", project);
  write("agents/dev/config.toml", 'models = ["main"]\ncredentials = []\nscale = 0\n');
  write("agents/dev/SKILL.md", "Do it.\n");
  write("agents/skillonly/SKILL.md", "Do it.\n");
  mkdirSync(join(folders.projectDir, "agents/empty"));
});
afterEach(() => folders.remove());

function write(path: string, text: string): void {
  const file = join(folders.projectDir, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

function read(path: string): string {
  return readFileSync(join(folders.projectDir, path), "utf8");
}

describe("al config of a directory with a SKILL.md only", () => {
  test("makes its config.toml as al agent new would", async () => {
    const sets = ["--set", 'models=["main"]', "--set", "schedule=0 8 * * *"];
    const { code, stdout } = await folders.al(["config", "skillonly", ...sets]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${join(folders.projectDir, at)} is made\n`,
    });
    const flags = ["--model", "main", "--schedule", "0 8 * * *"];
    await folders.al(["agent", "new", "other", ...flags]);
    expect(parse(read(at))).toEqual(parse(read("agents/other/config.toml")));
    expect(read(at)).toMatch(/^#:schema \.\.\/\.\.\/\.al\/schema\/agent\.json\n/);
    expect(read(".al/schema/agent.json")).toContain("schedule");
    expect(read("agents/skillonly/SKILL.md")).toBe("Do it.\n");
  });

  test("for a container it names no OS user", async () => {
    const sets = ["--set", 'models=["main"]', "--set", "runtime.type=container"];
    const more = ["--set", 'webhooks=[{ source = "hub" }]'];
    const { code, stdout } = await folders.al(["config", "skillonly", ...sets, ...more, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      file: join(folders.projectDir, at),
      changed: ["models", "runtime.type", "webhooks"],
    });
    expect(parse(read(at))).toEqual({
      models: ["main"],
      credentials: [],
      webhooks: [{ source: "hub" }],
      runtime: { type: "container" },
    });
  });

  test("takes the project's only model", async () => {
    const [own] = project.split("[models.other]");
    write("config.toml", own ?? "");
    expect(await folders.al(["config", "skillonly", "--set", "scale=0"])).toMatchObject({
      code: 0,
    });
    expect(parse(read(at))).toMatchObject({ models: ["main"], scale: 0 });
  });

  test.each([
    [["--set", 'models=["main"]'], "neither schedule nor webhooks"],
    [["--set", "schedule=0 8 * * *"], "models is an empty list; expected"],
    [["--set", 'models=["mian"]', "--set", "scale=0"], 'did you mean "main"'],
    [["--set", 'models=["main"]', "--set", "scale=0", "--set", "tiemout=9"], '"timeout"'],
    [["--unset", "timeout"], "has no key timeout"],
    [[], "agents/skillonly is not an agent: it has a SKILL.md, but no config.toml"],
  ])("%j says what is wrong and writes nothing", async (args, text) => {
    const ran = await folders.al(["config", "skillonly", ...args]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(text);
    expect(() => read(at)).toThrow("ENOENT");
  });

  test("what can't be changed is not suggested", async () => {
    const { code, stderr } = await folders.al(["config", "empty", "--set", "scale=0"]);
    expect(code).toBe(1);
    expect(stderr).toContain('there is no agent "empty"');
    expect(stderr).toContain("hint: agents: dev, skillonly");
    const { stderr: near } = await folders.al(["config", "emty", "--set", "scale=0"]);
    expect(near).not.toContain("did you mean");
    const { stderr: slip } = await folders.al(["config", "skilonly", "--set", "scale=0"]);
    expect(slip).toContain('did you mean "skillonly"?');
  });

  test.skipIf(noTerminal !== null)("asks on a terminal", async () => {
    const terminal = onTerminal(folders, ["config", "skillonly"]);
    await terminal.until("Model");
    terminal.line("");
    await terminal.until("What starts it");
    terminal.line("\u001b[B");
    await terminal.until("Where it runs");
    terminal.line("");
    expect(await terminal.ended).toBe(0);
    expect(parse(read(at))).toMatchObject({ models: ["main"], webhooks: [{ source: "hub" }] });
  });
});

test.each([
  ["dev", "al config dev changes the agent"],
  ["skillonly", "al config skillonly makes its config.toml"],
  ["empty", "it holds no agent: move it away, or choose another name"],
])("al agent new of the directory %s, which is there, says how to go on", async (name, hint) => {
  const flags = ["--model", "main", "--schedule", "* * * * *"];
  const { code, stderr } = await folders.al(["agent", "new", name, ...flags]);
  expect(code).toBe(1);
  expect(stderr).toContain(`hint: ${hint}`);
});
