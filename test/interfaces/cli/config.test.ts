import { statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { openStore } from "../../../src/foundation/store/store.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { cliProject } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al config on a terminal (${noTerminal})\n`);

const project = `# Ours.
workQueueSize = 7 # enough

[models.main]
provider = "scripted"
script = "main.script.toml"

[models.other]
provider = "openai" # the second
model = "gpt-5"

[webhooks.hub]
type = "github"
allowUnsigned = true
`;

const dev = `# What starts it
schedule = "0 9 * * *" # every morning
credentials = [] # none
models = [
  "main", # first
]

# Where it runs.
[runtime]
type = "host-user"
run_as = "$USER"
`;

const cli = cliProject();
beforeEach(() => {
  cli.write("config.toml", project);
  cli.write("agents/dev/config.toml", dev);
  cli.write("agents/dev/SKILL.md", "Do it.\n");
});

test("a new schedule is saved with its expected cost, once runs have a cost", async () => {
  const change = () => cli.al("config dev --set 'schedule=0 9 * * *'");
  const none = await change();
  expect([none.code, none.stderr]).toEqual([0, ""]);
  const store = openStore(cli.projectDir);
  await spendOn(store, "dev", [100_000_000, 100_000_000]);
  store.close();
  const noted = await change();
  const note =
    "dev will cost about $3.00 a month (p90 $3.00): 30 runs by its schedule, by its last 2 runs\n";
  expect(noted.stderr).toBe(note);
  expect((await cli.al("config dev")).stderr).toBe(note);
  expect((await cli.al("config dev --json")).stderr).toBe("");
});

test("al config changes keys and keeps comments, order and mode", async () => {
  const sets = ["--set", "schedule=0 8 * * 1-5", "--set", 'params.labels=["a", "b"]'];
  const stdout = await cli.output(["config", "dev", ...sets, "--set", "scale=2"]);
  expect(stdout).toContain("schedule, params.labels, scale changed");
  const text = cli.read("agents/dev/config.toml");
  expect(parse(text)).toEqual({
    ...parse(dev),
    schedule: "0 8 * * 1-5",
    params: { labels: ["a", "b"] },
    scale: 2,
  });
  for (const kept of ["# What starts it", "# every morning", "# none", "# first", "# Where it"]) {
    expect(text).toContain(kept);
  }
  expect(text.indexOf("schedule")).toBeLessThan(text.indexOf("credentials"));
});

test("al config sets an agent's own limits and variables, and prints them", async () => {
  const sets = ["--set", "local.memory=1g", "--set", "local.env.LOG_LEVEL=debug"];
  const ran = await cli.al(["config", "dev", "--set", "runtime.type=container", ...sets]);
  expect(ran).toMatchObject({ code: 0 });
  const local = { memory: "1g", env: { LOG_LEVEL: "debug" } };
  expect(parse(cli.read("agents/dev/config.toml"))).toMatchObject({ local });
  const { stdout } = await cli.al("config dev");
  expect(stdout).toContain('local.memory = "1g"\nlocal.env.LOG_LEVEL = "debug"\n');
});

test("al config removes a key", async () => {
  await cli.output("config dev --unset runtime.run_as");
  expect(cli.read("agents/dev/config.toml")).toBe(dev.replace('run_as = "$USER"\n', ""));
});

test("al config changes the project's config without an agent, including tables that don't exist yet", async () => {
  await cli.output("config --set gateway.port=9000");
  expect(cli.read("config.toml")).toContain("workQueueSize = 7 # enough");
  expect(parse(cli.read("config.toml"))).toEqual({ ...parse(project), gateway: { port: 9000 } });
});

test.each([
  [["dev", "--set", "schedule=daily"], "not a cron expression", 1],
  [["dev", "--set", "sheduel=0 9 * * *"], 'unknown key "sheduel"; did you mean "schedule"', 1],
  [["dev", "--set", 'models=["mian"]'], 'did you mean "main"', 1],
  [["--set", "gateway.port=http"], "gateway.port", 1],
  [["dev", "--set", "schedule"], "key=value", 2],
  [["dve", "--set", "scale=2"], 'did you mean "dev"', 1],
])("al config refuses %j and writes nothing", async (args, text, code) => {
  const ran = await cli.al(["config", ...args]);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(text);
  expect(cli.read("agents/dev/config.toml")).toBe(dev);
  expect(cli.read("config.toml")).toBe(project);
});

test("al config fixes one of two errors", async () => {
  cli.write(
    "agents/dev/config.toml",
    dev.replace("0 9 * * *", "daily").replace('"main"', '"mian"'),
  );
  await cli.output("config dev --set 'schedule=0 9 * * *'");
  expect(cli.read("agents/dev/config.toml")).toContain('"0 9 * * *"');
});

test("al config warns of an unknown model when it is set, and prints the values its runs assume", async () => {
  const { code, stderr } = await cli.al("config --set models.other.model=gpt-6");
  expect(code).toBe(0);
  expect(stderr).toMatch(/warning: model other: "gpt-6" is not in the list .* 272,000 tokens/);
  const known = await cli.al("config --set models.other.contextWindow=300000");
  expect(known).toMatchObject({ code: 0, stderr: "" });
});

test("al config keeps the file's mode", async () => {
  const before = statSync(join(cli.projectDir, "config.toml")).mode;
  await cli.al("config --set scale=3");
  expect(statSync(join(cli.projectDir, "config.toml")).mode).toBe(before);
});

test("al config off a terminal and without flags prints the active config", async () => {
  const stdout = await cli.output("config dev --json");
  const config = { timeout: 900, maxWorkQueueSize: 7, waitTimeout: 1800, models: ["main"] };
  expect(JSON.parse(stdout)).toMatchObject({ config });
  const text = await cli.al("config");
  expect(text.stdout).toContain("gateway.port = 8080");
});

test.each([[[]], [["dev"]]])(
  "al config prints %j in a form that can be set again",
  async (agent) => {
    const cluster = ["--set", "cluster.engine=swarm", "--set", "cluster.address=10.0.0.5:8443"];
    await cli.output(["config", ...cluster]);
    const { stdout } = await cli.al(["config", ...agent]);
    const sets = stdout
      .trimEnd()
      .split("\n")
      .flatMap((line) => ["--set", line]);
    const again = await cli.al(["config", ...agent, ...sets]);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect((await cli.al(["config", ...agent])).stdout).toBe(stdout);
  },
);

test("al config --add appends an entry to a list unless it has it, and creates a missing list", async () => {
  const add = (entry: string) =>
    cli.al(`config dev --add network.allow=${entry} --add models=main`);
  for (const entry of ["api.example.com", "db.lan:5432 private", "api.example.com"]) {
    expect(await add(entry)).toMatchObject({ code: 0 });
  }
  const text = cli.read("agents/dev/config.toml");
  const network = { allow: ["api.example.com", "db.lan:5432 private"] };
  expect(parse(text)).toEqual({ ...parse(dev), network });
  expect(text).toContain("# every morning");
  expect(await add("two words")).toMatchObject({ code: 1 });
  expect(cli.read("agents/dev/config.toml")).toBe(text);
  const stderr = await cli.failure("config dev --add schedule=@daily", 2);
  expect(stderr).toContain("schedule is not a list");
});

test("a missing key is not removed", async () => {
  const stderr = await cli.failure("config dev --unset shedule");
  expect(stderr).toContain('has no key shedule; did you mean "schedule"?');
  expect(cli.read("agents/dev/config.toml")).toBe(dev);
});

test.each(["project", "agent"])("al config --schema %s prints a JSON Schema", async (name) => {
  const stdout = await cli.output(`config --schema ${name}`);
  expect(JSON.parse(stdout)).toMatchObject({ type: "object", additionalProperties: false });
});

describe.skipIf(noTerminal !== null)("al config on a terminal", () => {
  test("asks what to change, and checks each answer", async () => {
    const terminal = onTerminal(cli, "config dev");
    await terminal.until("What to change");
    terminal.line("\u001b[B");
    await terminal.until("leave empty to remove");
    terminal.line(" x");
    await terminal.until("is not a cron expression");
    terminal.key("\u0015");
    terminal.line("0 7 * * *");
    await terminal.until("save");
    terminal.line("");
    expect(await terminal.ended).toBe(0);
    expect(cli.read("agents/dev/config.toml")).toBe(dev.replace("0 9 * * *", "0 7 * * *"));
  });
});

test("al agent new makes an agent without errors", async () => {
  const flags = ["--model", "other", "--model", "main", "--webhook", "hub", "-c", "github_token"];
  const more = ["-d", "Sorts: all of it", "--runtime", "container", "--timeout", "60"];
  const { code, stdout } = await cli.al(["agent", "new", "triage", ...flags, ...more]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: "agents/triage/SKILL.md\nagents/triage/config.toml\n",
  });
  expect(await cli.json("config triage")).toMatchObject({
    config: {
      models: ["other", "main"],
      webhooks: [{ source: "hub" }],
      credentials: ["github_token"],
      timeout: 60,
      runtime: { type: "container" },
    },
  });
  const skill = cli.read("agents/triage/SKILL.md");
  expect(skill).toContain('name: "Triage"\ndescription: "Sorts: all of it"\n');
  expect(cli.read("agents/triage/config.toml")).toMatch(
    /^#:schema \.\.\/\.\.\/\.al\/schema\/agent/,
  );
});

test("al agent new makes an agent that only others start, which al config shows", async () => {
  await cli.output("agent new reviewer -m main --callable");
  expect(cli.read("agents/reviewer/config.toml")).not.toContain("schedule");
  const shown = await cli.al("config reviewer");
  expect(shown.stdout).toContain("\ncallable = true\n");
});

test.each([
  [["agent", "new", "a"], "--model is missing: one of main, other", 2],
  [["agent", "new", "a", "-m", "main"], "--schedule, --webhook or --callable is missing", 2],
  [["agent", "new"], "al agent new <name>", 2],
  [["agent", "new", "A b", "-m", "main", "--schedule", "* * * * *"], "not an agent's name", 2],
  [["agent", "new", "a", "-m", "man", "--schedule", "* * * * *"], 'did you mean "main"', 2],
  [["agent", "new", "dev"], "al config dev changes the agent", 1],
])("al agent new: %j is rejected with the reason and writes nothing", async (args, text, code) => {
  const ran = await cli.al(args);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(text);
  expect(cli.read("agents/dev/config.toml")).toBe(dev);
  expect(() => cli.read("agents/a/config.toml")).toThrow("ENOENT");
});

test.skipIf(noTerminal !== null)("al agent new asks on a terminal", async () => {
  const terminal = onTerminal(cli, "agent new news");
  await terminal.until("What it does");
  terminal.line("Reads news");
  await terminal.until("Model");
  terminal.line("");
  await terminal.until("What starts it");
  terminal.line("\u001b[B");
  await terminal.until("Where it runs");
  terminal.line("");
  expect(await terminal.ended).toBe(0);
  expect(parse(cli.read("agents/news/config.toml"))).toMatchObject({
    models: ["main"],
    webhooks: [{ source: "hub" }],
    runtime: { type: "host-user", run_as: "$USER" },
  });
});
