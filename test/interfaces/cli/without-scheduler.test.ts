import { openStore } from "../../../src/features/open-store.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { manualItem, requestFor, succeeded } from "../../foundation/store/support.ts";
import { cliProject, scriptedModel, type Ran } from "./fake-operator.ts";

const cli = cliProject();
const note = "no scheduler is running; read from the project's store\n";

beforeEach(async () => {
  const { key } = await ensureApiKey(cli.home);
  cli.write("config.toml", `${scriptedModel}[budget]\nmonth = 20\n`);
  cli.addAgent("dev", 'schedule = "0 9 * * *"');
  cli.addAgent("bad", 'schedule = "every day"');
  await fill(key);
});

/** A store with two runs of `dev`, the second of which left the key behind, one queued and what they spent. */
async function fill(key: string): Promise<void> {
  const store = openStore(cli.projectDir);
  const leak = { outcome: "failed", reason: `left ${key} behind`, value: { said: key } } as const;
  for (const [name, instanceId, end, schedule] of [
    ["one", "dev-aaaaaaaa", succeeded, "0 8 * * *"],
    ["two", "dev-bbbbbbbb", { ...succeeded, ...leak }, "0 9 * * *"],
  ] as const) {
    const item = manualItem(name, "dev", Date.now() - 60_000);
    await store.work.enqueue([item]);
    const content = { config: `schedule = "${schedule}"\n`, instructions: "do" };
    await store.work.claim(requestFor(item, instanceId), { hash: schedule, content });
    await store.work.end(item, { instanceId, startedAt: item.at, end });
  }
  await store.work.enqueue([manualItem("three", "dev", Date.now())]);
  await spendOn(store, "dev", [2_000_000_000, 1_000_000_000]);
  await store.settings.recordAlive(Date.now() - 120_000);
  store.close();
}

/** The output of a command that changes nothing. */
async function read(line: string): Promise<Ran> {
  const state = join(cli.projectDir, ".al");
  const files = () => [readdirSync(state), readFileSync(join(state, "state.db"), "base64")];
  const before = files();
  const ran = await cli.al(line);
  expect(files()).toEqual(before);
  return ran;
}

/** Standard output of a command that reads from the store. */
async function printed(line: string): Promise<string> {
  const { code, stdout, stderr } = await read(line);
  expect({ code, stderr }).toEqual({ code: 0, stderr: note });
  return stdout;
}

describe("without a scheduler", () => {
  test("al history prints the entries of the store", async () => {
    const stdout = await printed("history -a dev --outcome failed");
    expect(stdout).toMatch(/^.*\n.*dev +manual +failed +1 min.* dev-bbbbbbbb +two +left.*\n$/);
  });

  test.each([
    ["history -a dev --refused", 0, `${note}No scheduler is running.\nno entries match`],
    ["history -a bad", 0, `${note}nothing of bad was triggered yet\n`],
    ["history -a dew", 1, 'did you mean "dev"?'],
    ["show dev-cccccccc", 1, "hint: al history lists the runs"],
  ])("al %s exits with %i and prints only %j", async (line, code, text) => {
    const ran = await read(line);
    expect(ran).toMatchObject({ code, stdout: "" });
    expect(ran.stderr).toContain(text);
  });

  test("al stat prints the agents from their current files", async () => {
    const stdout = await printed("stat");
    expect(stdout).toMatch(/^project · no scheduler · last ran 2 min ago\n/);
    expect(stdout).toMatch(/^dev +error +1 queued: left \[redacted\] behind/m);
    expect(stdout).toMatch(/^error bad: agents\/bad\/config\.toml:3:12 /m);
    expect(await printed("status")).toBe(stdout);
  });

  test("al show prints a run without secrets, and config changes before that run", async () => {
    const stdout = await printed("show dev-bbbbbbbb");
    expect(stdout).toMatch(/^dev-bbbbbbbb failed\n[^]*"said": "\[redacted\]"/);
    const { stdout: changed } = await read("show dev-bbbbbbbb --diff");
    expect(changed).toMatch(/^-.*0 8 \* \* \*[^]*^\+.*0 9 \* \* \*/m);
  });

  test("al cost prints spending, with the limits of the config", async () => {
    const stdout = await printed("cost");
    expect(stdout).toMatch(/^dev +\$3\.00 +2 +4/m);
    expect(stdout).toMatch(/^project +\d{4}-\d{2} +\$0\.00 of \$20\.00$/m);
    // The agent with an invalid config has none of its own.
    expect(stdout.match(/of \$20\.00/g)).toHaveLength(1);
    expect(stdout).toContain("a month");
  });

  test("al stat, cost and history work with a broken config", async () => {
    cli.write("config.toml", "nonsense");
    expect(await printed("stat")).toMatch(/^error config\.toml:1/m);
    await printed("cost");
    await printed("history");
  });
});
