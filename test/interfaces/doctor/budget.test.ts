import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { openStore } from "../../../src/foundation/store/store.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { agentConfig } from "./fault.ts";
import { ward } from "./support.ts";

async function found(): Promise<readonly CheckFinding[]> {
  return (await ward.runChecks()).filter(({ check }) => check === "budget");
}

/** Runs the command at the end of a fix, after which the check finds no fault. */
async function fix(finding: CheckFinding | undefined): Promise<void> {
  const command = (finding?.fix ?? "").replace(/^.*: (?=al )/, "");
  await ward.run(command);
  expect((await found()).filter(({ severity }) => severity === "warning")).toEqual([]);
}

async function spend(agent: string, costs: readonly number[]): Promise<void> {
  const store = openStore(ward.dir);
  await spendOn(store, agent, costs);
  store.close();
}

function useClaude(lines = ""): void {
  ward.edit(agentConfig, '["scripted"]', '["claude"]');
  ward.edit("config.toml", '"claude-sonnet-4-5"', `"claude-sonnet-4-5"\nauthType = "none"${lines}`);
}

test("a scripted model has a price and needs no limit", async () =>
  expect(await found()).toEqual([]));

test("a priced model without any limit is a warning", async () => {
  useClaude();
  const [finding, ...others] = await found();
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    severity: "warning",
    what: "nothing limits what agents spend on models in a day or a month; each run may spend $10.00",
    where: "config.toml [budget]",
  });
  await fix(finding);
});

test("the check finds no problem if each agent has a limit of a day, or if models are free", async () => {
  useClaude();
  ward.edit(agentConfig, "[runtime]", "[budget]\nday = 5\n[runtime]");
  expect(await found()).toEqual([]);
  ward.edit(agentConfig, "day = 5", "run = 5");
  ward.edit(
    "config.toml",
    'authType = "none"',
    'authType = "none"\nprice = { input = 0, output = 0 }',
  );
  expect(await found()).toEqual([]);
});

test("a model without a price is named, with its assumed price", async () => {
  useClaude();
  ward.edit("config.toml", '"claude-sonnet-4-5"', '"claude-next"');
  ward.edit("config.toml", "[gateway]", "[budget]\nmonth = 100\n[gateway]");
  const [finding, ...others] = await found();
  expect(others).toEqual([]);
  expect(finding?.what).toMatch(
    /^claude: no price of anthropic claude-next is known; its calls count at \$\d+\.\d\d for a million tokens of input and \$\d+\.\d\d of output, the dearest of anthropic$/,
  );
  expect(finding).toMatchObject({ severity: "warning", where: "config.toml [models.claude]" });
  await fix(finding);
});

test("a forecast is shown, and one above a limit is a warning", async () => {
  const cent = 10_000_000;
  await spend("dev", [cent, cent, 2 * cent]);
  const [shown, ...none] = await found();
  expect(none).toEqual([]);
  expect(shown?.severity).toBe("ok");
  expect(shown?.what).toMatch(/^agents will cost about \$0\.2\d a month \(p90 \$0\.4\d\)$/);
  ward.edit(agentConfig, "[runtime]", "[budget]\nmonth = 0.05\n[runtime]");
  const [, finding, ...others] = await found();
  expect(others).toEqual([]);
  expect(finding?.severity).toBe("warning");
  expect(finding?.what).toMatch(
    /^dev will cost about \$0\.2\d a month \(p90 \$0\.4\d\), above the limit of \$0\.05 a month$/,
  );
  expect(finding?.where).toBe("agents/dev/config.toml [budget]");
  await fix(finding);
  ward.edit("config.toml", "[gateway]", "[budget]\nday = 0.001\n[gateway]");
  const ofProject = (await found()).at(-1);
  expect(ofProject?.what).toMatch(/^all agents will cost .* above the limit of \$0\.001 a day$/);
  await fix(ofProject);
});

test("runs of an external command line can't pause", async () => {
  ward.edit(agentConfig, "[runtime]", '[budget]\nonLimit = "pause"\n[runtime]');
  expect(await found()).toEqual([]);
  ward.edit(agentConfig, "[runtime]", '[harness]\ntype = "llm-cli"\ncommand = "claude"\n[runtime]');
  expect(await found()).toMatchObject([
    {
      severity: "ok",
      what: 'runs of dev end at a limit, as their harness can\'t pause; with onLimit = "pause" their waiting work is held',
    },
  ]);
});

test("a limit of runs below the first request of their command line is an error", async () => {
  useClaude();
  ward.edit(
    agentConfig,
    "[runtime]",
    '[budget]\nday = 5\nrun = 0.5\n[harness]\ntype = "llm-cli"\ncommand = "claude"\n[runtime]',
  );
  const [finding, ...others] = await found();
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    severity: "error",
    what: "no run of dev starts its session: the first request of claude needs about $0.57, above the limit of $0.50 a run",
  });
  await fix(finding);
});
