import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { cliProject } from "./fake-operator.ts";
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

const cli = cliProject();
beforeEach(() => {
  cli.write("config.toml", project);
  cli.write("agents/dev/config.toml", 'models = ["main"]\ncredentials = []\nscale = 0\n');
  cli.write("agents/dev/SKILL.md", "Do it.\n");
  cli.write("agents/skillonly/SKILL.md", "Do it.\n");
  mkdirSync(join(cli.projectDir, "agents/empty"));
});

test("al config of a directory with only a SKILL.md makes its config.toml as al agent new would", async () => {
  const sets = ["--set", 'models=["main"]', "--set", "schedule=0 8 * * *"];
  const { code, stdout } = await cli.al(["config", "skillonly", ...sets]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(cli.projectDir, at)} is made\n` });
  const flags = ["--model", "main", "--schedule", "0 8 * * *"];
  await cli.al(["agent", "new", "other", ...flags]);
  expect(parse(cli.read(at))).toEqual(parse(cli.read("agents/other/config.toml")));
  expect(cli.read(at)).toMatch(/^#:schema \.\.\/\.\.\/\.al\/schema\/agent\.json\n/);
  expect(cli.read(".al/schema/agent.json")).toContain("schedule");
  expect(cli.read("agents/skillonly/SKILL.md")).toBe("Do it.\n");
});

test("al config of a bare skill names no OS user for a container", async () => {
  const sets = ["--set", 'models=["main"]', "--set", "runtime.type=container"];
  const more = ["--set", 'webhooks=[{ source = "hub" }]'];
  const stdout = await cli.output(["config", "skillonly", ...sets, ...more, "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    file: join(cli.projectDir, at),
    changed: ["models", "runtime.type", "webhooks"],
  });
  expect(parse(cli.read(at))).toEqual({
    models: ["main"],
    credentials: [],
    webhooks: [{ source: "hub" }],
    runtime: { type: "container" },
  });
});

test("al config of a directory with only a SKILL.md takes the project's only model", async () => {
  const [own] = project.split("[models.other]");
  cli.write("config.toml", own ?? "");
  expect(await cli.al("config skillonly --set scale=0")).toMatchObject({ code: 0 });
  expect(parse(cli.read(at))).toMatchObject({ models: ["main"], scale: 0 });
});

test.each([
  [["--set", 'models=["main"]'], "neither schedule nor webhooks"],
  [["--set", "schedule=0 8 * * *"], "models is an empty list; expected"],
  [["--set", 'models=["mian"]', "--set", "scale=0"], 'did you mean "main"'],
  [["--set", 'models=["main"]', "--set", "scale=0", "--set", "tiemout=9"], '"timeout"'],
  [["--unset", "timeout"], "has no key timeout"],
  [[], "agents/skillonly is not an agent: it has a SKILL.md, but no config.toml"],
])(
  "al config of a directory with only a SKILL.md: %j is rejected with the reason and writes nothing",
  async (args, text) => {
    const ran = await cli.al(["config", "skillonly", ...args]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(text);
    expect(() => cli.read(at)).toThrow("ENOENT");
  },
);

test("keys that can't be changed are not suggested", async () => {
  const stderr = await cli.failure("config empty --set scale=0");
  expect(stderr).toContain('there is no agent "empty"');
  expect(stderr).toContain("hint: agents: dev, skillonly");
  const { stderr: near } = await cli.al("config emty --set scale=0");
  expect(near).not.toContain("did you mean");
  const { stderr: slip } = await cli.al("config skilonly --set scale=0");
  expect(slip).toContain('did you mean "skillonly"?');
});

test.skipIf(noTerminal !== null)(
  "al config of a directory with only a SKILL.md asks on a terminal",
  async () => {
    const terminal = onTerminal(cli, "config skillonly");
    await terminal.until("Model");
    terminal.line("");
    await terminal.until("What starts it");
    terminal.line("\u001b[B");
    await terminal.until("Where it runs");
    terminal.line("");
    expect(await terminal.ended).toBe(0);
    expect(parse(cli.read(at))).toMatchObject({ models: ["main"], webhooks: [{ source: "hub" }] });
  },
);

test.each([
  ["dev", "al config dev changes the agent"],
  ["skillonly", "al config skillonly makes its config.toml"],
  ["empty", "it holds no agent: move it away, or choose another name"],
])("al agent new of the existing directory %s names the next step", async (name, hint) => {
  const flags = ["--model", "main", "--schedule", "* * * * *"];
  const stderr = await cli.failure(["agent", "new", name, ...flags]);
  expect(stderr).toContain(`hint: ${hint}`);
});
