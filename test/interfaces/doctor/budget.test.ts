import { openStore } from "../../../src/features/open-store.ts";
import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { spendOn } from "../../foundation/store/spend-on.ts";
import { agentConfig, ward } from "./support.ts";
import { like } from "../../helpers/like.ts";

const found = () => ward.found("budget");

/** Runs the command at the end of a fix, after which the check finds no fault. */
async function fix(finding: CheckFinding | undefined): Promise<void> {
  await ward.fix(finding);
  expect((await found()).filter(({ severity }) => severity === "warning")).toEqual([]);
}

/** The only finding, which is as expected and has a fix that works. */
async function fixed(expected: object): Promise<void> {
  const findings = await found();
  expect(findings).toMatchObject([expected]);
  await fix(findings[0]);
}

function useClaude(model = "claude-sonnet-4-5", lines = ""): void {
  ward.edit(agentConfig, '["scripted"]', '["claude"]');
  ward.edit("config.toml", '"claude-sonnet-4-5"', `"${model}"\nauthType = "none"${lines}`);
}

test("the doctor accepts a scripted model without a budget limit", async () =>
  expect(await found()).toEqual([]));

test("the doctor warns of a priced model without a budget limit", async () => {
  useClaude();
  await fixed({
    severity: "warning",
    what: "nothing limits what agents spend on models in a day or a month; each run may spend $10.00",
    where: "config.toml [budget]",
  });
});

test.each([
  ["each agent has a limit per day", "day = 5", ""],
  ["models are free", "run = 5", "\nprice = { input = 0, output = 0 }"],
])("the doctor finds no problem with budgets if %s", async (_when, limit, price) => {
  useClaude(undefined, price);
  ward.toAgent(`[budget]\n${limit}`);
  expect(await found()).toEqual([]);
});

test("the doctor shows the assumed price of a model whose price is unknown", async () => {
  useClaude("claude-next");
  ward.toProject("[budget]\nmonth = 100");
  await fixed({
    severity: "warning",
    where: "config.toml [models.claude]",
    what: like(
      /^claude: no price of anthropic claude-next is known; its calls count at \$\d+\.\d\d for a million tokens of input and \$\d+\.\d\d of output, the dearest of anthropic$/,
    ),
  });
});

test("the doctor shows spending forecasts, and warns if one exceeds a limit", async () => {
  const cent = 10_000_000;
  const store = openStore(ward.dir);
  await spendOn(store, "dev", [cent, cent, 2 * cent]);
  store.close();
  const shown = "will cost about \\$0\\.2\\d a month \\(p90 \\$0\\.4\\d\\)";
  expect(await found()).toMatchObject([
    { severity: "ok", what: like(new RegExp(`^agents ${shown}$`)) },
  ]);
  ward.toAgent("[budget]\nmonth = 0.05");
  const findings = await found();
  expect(findings.slice(1)).toMatchObject([
    {
      severity: "warning",
      what: like(new RegExp(`^dev ${shown}, above the limit of \\$0\\.05 a month$`)),
      where: "agents/dev/config.toml [budget]",
    },
  ]);
  await fix(findings[1]);
  ward.toProject("[budget]\nday = 0.001");
  const ofProject = (await found()).at(-1);
  expect(ofProject?.what).toMatch(/^all agents will cost .* above the limit of \$0\.001 a day$/);
  await fix(ofProject);
});

test("the doctor reports that runs of llm-cli can't wait for budget", async () => {
  ward.toAgent('[budget]\nonLimit = "pause"');
  expect(await found()).toEqual([]);
  ward.toAgent('[harness]\ntype = "llm-cli"\ncommand = "claude"');
  expect(await found()).toMatchObject([
    {
      severity: "ok",
      what: 'runs of dev end at a limit, as their harness can\'t pause; with onLimit = "pause" their waiting work is held',
    },
  ]);
});

test("the doctor rejects a run's budget that can't pay the first request of llm-cli", async () => {
  useClaude();
  ward.toAgent('[budget]\nday = 5\nrun = 0.5\n[harness]\ntype = "llm-cli"\ncommand = "claude"');
  await fixed({
    severity: "error",
    what: "no run of dev starts its session: the first request of claude needs about $0.57, above the limit of $0.50 a run",
  });
});
