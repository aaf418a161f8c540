import { existsSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore } from "../../../../src/foundation/store/store.ts";
import { anAgentStatus } from "../../../helpers/agent-status.ts";
import { manualItem, requestFor } from "../../../foundation/store/support.ts";
import { cliProject, snapshotOf } from "../fake-operator.ts";
import { onTerminal, whyNoTerminal } from "../terminal.ts";

const cli = cliProject();

beforeEach(() => {
  cli.write("config.toml", '[models.m]\nprovider = "scripted"\nscript = "s.toml"\n');
  agent("dev", 'tags = ["web", "team-a"]\n', "name: Developer\n");
  agent("bad", 'schedule = "every day"\n');
});

function agent(name: string, more: string, head = ""): void {
  const config = `models = ["m"]\ncredentials = []\ncallable = true\n${more}`;
  cli.write(`agents/${name}/config.toml`, config);
  cli.write(`agents/${name}/SKILL.md`, `---\n${head}description: d\n---\nDo it.\n`);
}

function agentDir(name: string): string {
  return join(cli.projectDir, "agents", name);
}

test("al agent ls lists names, states, tags and titles of a project that never ran", async () => {
  const stdout = await cli.output("agent ls");
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(/^Agent +State +Tags +Title$/),
    expect.stringMatching(/^bad +error/),
    expect.stringMatching(/^dev +idle +web, team-a +Developer$/),
    "",
  ]);
  expect(readdirSync(cli.projectDir)).not.toContain(".al");
});

test("al agent ls asks the running scheduler", async () => {
  const status = { ...anAgentStatus("dev"), tags: ["web"], enabled: false };
  await cli.serve({ "GET /control/status": () => snapshotOf([status]) });
  const { stdout } = await cli.al("agent ls --json");
  const { name, title, state } = status;
  expect(JSON.parse(stdout)).toEqual({
    agents: [{ name, title, tags: ["web"], enabled: false, state }],
  });
});

test("al agent rm removes the directory, and nothing else", async () => {
  const { code, stdout } = await cli.al("agent rm dev --yes");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: "agents/dev is removed; its history and logs stay\n",
  });
  expect(readdirSync(dirname(agentDir("dev")))).toEqual(["bad"]);
  const left = readdirSync(join(cli.projectDir, ".al"));
  expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("al agent rm removes a link, and not its target", async () => {
  const target = mkdtempSync(join(cli.projectDir, "../linked-"));
  writeFileSync(join(target, "SKILL.md"), "mine");
  symlinkSync(target, agentDir("linked"));
  expect((await cli.al("agent rm linked -y")).code).toBe(0);
  expect(existsSync(agentDir("linked"))).toBe(false);
  expect(readdirSync(target)).toEqual(["SKILL.md"]);
});

test.each([
  [["dve", "--yes"], 1, 'did you mean "dev"'],
  [["../agents/dev", "--yes"], 1, "there is no agent"],
  [["dev"], 2, "--yes is missing"],
])("al agent rm: %j removes nothing", async (args, code, text) => {
  const ran = await cli.al(["agent", "rm", ...args]);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(text);
  expect(existsSync(agentDir("dev"))).toBe(true);
});

test("al agent rm refuses while a run is running, with a hint", async () => {
  await cli.serve({
    "GET /control/status": () => snapshotOf([{ ...anAgentStatus("dev"), running: 2 }]),
  });
  const stderr = await cli.failure("agent rm dev --yes");
  expect(stderr).toContain("dev has 2 runs");
  expect(stderr).toContain("al kill dev");
  expect(existsSync(agentDir("dev"))).toBe(true);
});

test("al agent rm refuses while a run that a killed scheduler left may continue", async () => {
  const store = openStore(cli.projectDir);
  const item = manualItem("one", "dev", Date.now());
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, "dev-aaaaaaaa"), {
    hash: "h",
    content: { config: "", instructions: "" },
  });
  store.close();
  const stderr = await cli.failure("agent rm dev --yes");
  expect(stderr).toContain("al start continues its runs");
  expect(existsSync(agentDir("dev"))).toBe(true);
});

test.skipIf(whyNoTerminal() !== null)("al agent rm asks on a terminal", async () => {
  const terminal = onTerminal(cli, "agent rm dev");
  await terminal.until("Remove agents/dev with all of its files for good?");
  terminal.line("");
  expect(await terminal.ended).toBe(1);
  expect(terminal.shown()).toContain("nothing was removed");
  expect(existsSync(agentDir("dev"))).toBe(true);
});
