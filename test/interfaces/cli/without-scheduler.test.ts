import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { openStore } from "../../../src/foundation/store/store.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { manualItem, requestFor, succeeded } from "../../foundation/store/support.ts";
import { cliProject, type Ran } from "./fake-operator.ts";

const cli = cliProject();
let key: string;

const content = (schedule: string) => ({
  config: `schedule = "${schedule}"\n`,
  instructions: "do",
});
const note = "no scheduler is running; read from the project's store\n";

beforeEach(async () => {
  const { projectDir, home } = cli;
  ({ key } = await ensureApiKey(home));
  const config = '[models.m]\nprovider = "scripted"\nscript = "s.toml"\n[budget]\nmonth = 20\n';
  writeFileSync(join(projectDir, "config.toml"), config);
  agent("dev", 'models = ["m"]\nschedule = "0 9 * * *"\n');
  agent("bad", 'models = ["m"]\nschedule = "every day"\n');
  await fill();
});

function agent(name: string, config: string): void {
  cli.write(`agents/${name}/config.toml`, `credentials = []\n${config}`);
  cli.write(`agents/${name}/SKILL.md`, `---\nname: ${name}\ndescription: d\n---\nDo it.\n`);
}

async function fill(): Promise<void> {
  const store = openStore(cli.projectDir);
  const runs = [
    ["one", "dev-aaaaaaaa", succeeded, "0 8 * * *"],
    [
      "two",
      "dev-bbbbbbbb",
      { ...succeeded, outcome: "failed", reason: `left ${key} behind`, value: { said: key } },
      "0 9 * * *",
    ],
  ] as const;
  for (const [name, instanceId, end, schedule] of runs) {
    const item = manualItem(name, "dev", Date.now() - 60_000);
    await store.work.enqueue([item]);
    const version = { hash: schedule, content: content(schedule) };
    await store.work.claim(requestFor(item, instanceId), version);
    await store.work.end(item, { instanceId, startedAt: item.at, end });
  }
  await store.work.enqueue([manualItem("three", "dev", Date.now())]);
  await spendOn(store, "dev", [2_000_000_000, 1_000_000_000]);
  await store.settings.recordAlive(Date.now() - 120_000);
  store.close();
}

async function read(...args: readonly string[]): Promise<Ran> {
  const state = join(cli.projectDir, ".al");
  const before = [readdirSync(state), readFileSync(join(state, "state.db"), "base64")];
  const ran = await cli.al(args);
  expect([readdirSync(state), readFileSync(join(state, "state.db"), "base64")]).toEqual(before);
  return ran;
}

test("without a scheduler the store answers al history, as with one", async () => {
  const { code, stdout, stderr } = await read("history", "-a", "dev", "--outcome", "failed");
  expect({ code, stderr }).toEqual({ code: 0, stderr: note });
  expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  expect(stdout).toMatch(/dev +manual +failed +1 min.* dev-bbbbbbbb +two +left/);
  const refused = await read("history", "-a", "dev", "--refused");
  expect(refused.stderr).toBe(`${note}No scheduler is running.\nno entries match these filters\n`);
  const json = await read("history", "--json", "-n", "1");
  expect(JSON.parse(json.stdout)).toMatchObject({ total: 3, triggers: [{ outcome: null }] });
  expect(await read("history", "-a", "bad")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: `${note}nothing of bad was triggered yet\n`,
  });
  const slip = await read("history", "-a", "dew");
  expect(slip.code).toBe(1);
  expect(slip.stderr).toContain('did you mean "dev"?');
});

test.each(["stat", "status"])(
  "without a scheduler the store answers al %s, from the files as they are now",
  async (command) => {
    const { code, stdout, stderr } = await read(command);
    expect({ code, stderr }).toEqual({ code: 0, stderr: note });
    expect(stdout).toMatch(/^project · no scheduler · last ran 2 min ago\n/);
    expect(stdout).toMatch(/^dev +error +1 queued: left \[redacted\] behind/m);
    expect(stdout).toMatch(/^error bad: agents\/bad\/config\.toml:3:12 /m);
    const json = JSON.parse((await read(command, "--json")).stdout) as unknown;
    const agents = [{ name: "bad" }, { name: "dev", queued: 1, running: 0, nextRunAt: null }];
    expect(json).toMatchObject({ scheduler: null, project: "project", paused: false, agents });
  },
);

test("without a scheduler the store answers al show, without secrets, and with the changes", async () => {
  const { code, stdout, stderr } = await read("show", "dev-bbbbbbbb");
  expect({ code, stderr }).toEqual({ code: 0, stderr: note });
  expect(stdout).toMatch(/^dev-bbbbbbbb failed\n/);
  expect(stdout).toContain('"said": "[redacted]"');
  const changed = await read("show", "dev-bbbbbbbb", "--diff");
  expect(changed.stdout).toMatch(/^-.*0 8 \* \* \*[^]*^\+.*0 9 \* \* \*/m);
  const none = await read("show", "dev-cccccccc");
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("hint: al history lists the runs");
});

test("without a scheduler the store answers al cost, with the limits of the config", async () => {
  const { code, stdout, stderr } = await read("cost");
  expect({ code, stderr }).toEqual({ code: 0, stderr: note });
  expect(stdout).toMatch(/^dev +\$3\.00 +2 +4/m);
  expect(stdout).toMatch(/^project +\d{4}-\d{2} +\$0\.00 of \$20\.00$/m);
  // The agent with an invalid config has none of its own.
  expect(stdout.match(/of \$20\.00/g)).toHaveLength(1);
  expect(stdout).toContain("a month");
});

test("without a scheduler the store answers even if the config is broken", async () => {
  writeFileSync(join(cli.projectDir, "config.toml"), "nonsense");
  const { code, stdout } = await read("stat");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^error config\.toml:1/m);
  expect(await read("cost")).toMatchObject({ code: 0 });
  expect(await read("history")).toMatchObject({ code: 0 });
});

test("commands that change something still need a scheduler", async () => {
  const { code, stderr } = await read("pause");
  expect(code).toBe(1);
  expect(stderr).toContain("no scheduler is running for");
});
