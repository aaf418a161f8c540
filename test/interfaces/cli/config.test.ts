import { openStore } from "../../../src/features/open-store.ts";
import { statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { cliProject } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";
import { noteSkipped } from "../../helpers/note-skipped.ts";

const noTerminal = whyNoTerminal();
noteSkipped("al agent new on a terminal", noTerminal);

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
const readDev = () => cli.read("agents/dev/config.toml");

test("al config shows the expected cost of an agent that has run", async () => {
  const change = "config dev --set 'schedule=0 9 * * *'";
  expect((await cli.al(change)).stderr).toBe("");
  const store = openStore(cli.projectDir);
  await spendOn(store, "dev", [100_000_000, 100_000_000]);
  store.close();
  const note =
    "dev will cost about $3.00 a month (p90 $3.00): 30 runs on its schedule, by its last 2 runs\n";
  expect((await cli.al(change)).stderr).toBe(note);
  expect((await cli.al("config dev")).stderr).toBe(note);
  expect((await cli.al("config dev --json")).stderr).toBe("");
});

test("al config changes keys and keeps comments and order", async () => {
  const labels = `'params.labels=["a", "b"]'`;
  const stdout = await cli.output(
    `config dev --set 'schedule=0 8 * * 1-5' --set ${labels} --set scale=2`,
  );
  expect(stdout).toContain("schedule, params.labels, scale changed");
  expect(readDev()).toMatch(
    /# What starts it\nschedule[^]*# every morning[^]*# none[^]*# first[^]*# Where it/,
  );
  expect(parse(readDev())).toEqual({
    ...parse(dev),
    schedule: "0 8 * * 1-5",
    params: { labels: ["a", "b"] },
    scale: 2,
  });
});

test("al config removes a key", async () => {
  await cli.output("config dev --unset runtime.run_as");
  expect(readDev()).toBe(dev.replace('run_as = "$USER"\n', ""));
});

test("al config without an agent changes the project's config, with new tables, and keeps its mode", async () => {
  const mode = () => statSync(join(cli.projectDir, "config.toml")).mode;
  const before = mode();
  await cli.output("config --set gateway.port=9000");
  expect(cli.read("config.toml")).toContain("workQueueSize = 7 # enough");
  expect(parse(cli.read("config.toml"))).toEqual({ ...parse(project), gateway: { port: 9000 } });
  expect(mode()).toBe(before);
});

test("al config fixes one of two errors", async () => {
  const broken = dev.replace("0 9 * * *", "daily").replace('"main"', '"mian"');
  cli.write("agents/dev/config.toml", broken);
  await cli.output("config dev --set 'schedule=0 9 * * *'");
  expect(readDev()).toContain('"0 9 * * *"');
});

test("al config warns of an unknown model until its window is set", async () => {
  const { stderr } = await cli.al("config --set models.other.model=gpt-6");
  expect(stderr).toMatch(/warning: model other: "gpt-6" is not in the list .* 272,000 tokens/);
  const known = await cli.al("config --set models.other.contextWindow=300000");
  expect(known).toMatchObject({ code: 0, stderr: "" });
});

test("al config without flags prints the active config", async () => {
  const config = { timeout: 900, maxWorkQueueSize: 7, waitTimeout: 1800, models: ["main"] };
  expect(await cli.json("config dev")).toMatchObject({ config });
  expect(await cli.output("config")).toContain("gateway.port = 8080");
});

test.each(["config", "config dev"])("al %s prints values that --set accepts", async (line) => {
  await cli.output("config --set cluster.engine=swarm --set cluster.address=10.0.0.5:8443");
  await cli.output("config dev --set runtime.type=container --set local.env.LOG_LEVEL=debug");
  const stdout = await cli.output(line);
  const lines = stdout.trimEnd().split("\n");
  const sets = lines.flatMap((each) => ["--set", each]);
  const again = await cli.al([...line.split(" "), ...sets]);
  expect(again).toMatchObject({ code: 0, stderr: "" });
  await cli.prints(line, stdout);
});

test("al config --add appends an entry to a list unless it has it, and creates a missing list", async () => {
  for (const entry of ["api.example.com", "db.lan:5432 private", "api.example.com"]) {
    await cli.output(`config dev --add 'network.allow=${entry}' --add models=main`);
  }
  const network = { allow: ["api.example.com", "db.lan:5432 private"] };
  expect(parse(readDev())).toEqual({ ...parse(dev), network });
  expect(readDev()).toContain("# every morning");
});

test.each(["project", "agent"])("al config --schema %s prints a JSON Schema", async (name) => {
  const schema = JSON.parse(await cli.output(`config --schema ${name}`)) as unknown;
  expect(schema).toMatchObject({ type: "object", additionalProperties: false });
});

test("al agent new makes an agent without errors", async () => {
  const flags = "--model other --model main --webhook hub -c github_token --runtime container";
  const line = `agent new triage ${flags} -d 'Sorts: all of it' --timeout 60`;
  await cli.prints(line, "agents/triage/SKILL.md\nagents/triage/config.toml\n");
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
  const config = cli.read("agents/triage/config.toml");
  expect(config).toMatch(/^#:schema \.\.\/\.\.\/\.al\/schema\/agent/);
});

test("al agent new makes an agent that only others start, which al config shows", async () => {
  await cli.output("agent new reviewer -m main --callable");
  expect(cli.read("agents/reviewer/config.toml")).not.toContain("schedule");
  expect(await cli.output("config reviewer")).toContain("\ncallable = true\n");
});

test.skipIf(noTerminal !== null)("al agent new asks on a terminal", async () => {
  const terminal = onTerminal(cli, "agent new news");
  await terminal.answer(
    ["What it does", "Reads news"],
    ["Model", ""],
    ["What starts it", "\u001b[B"],
    ["Where it runs", ""],
  );
  expect(await terminal.ended).toBe(0);
  expect(parse(cli.read("agents/news/config.toml"))).toMatchObject({
    models: ["main"],
    webhooks: [{ source: "hub" }],
    runtime: { type: "host-user", run_as: "$USER" },
  });
});
