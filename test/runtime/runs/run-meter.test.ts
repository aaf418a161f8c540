import { firstValueFrom, of } from "rxjs";
import type { CallRefusal, Meter } from "../../../src/foundation/contracts/model-gateway.ts";
import type { SpendStore } from "../../../src/features/spend/spend-store.ts";
import { defaultBudget } from "../../../src/foundation/contracts/budget.ts";
import type { LiveRun } from "../../../src/runtime/runs/live-run.ts";
import {
  budgetWarnings,
  createRunMeter,
  noteRefusals,
} from "../../../src/runtime/runs/run-meter.ts";
import { plan } from "../../features/spend/support.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";

/** A run as far as the meter knows it. */
function runOf(warnings: string[] = []) {
  const run = { overBudget: null as string | null, warn: (text: string) => warnings.push(text) };
  const find = (instanceId: string) =>
    instanceId === "dev-1" ? (run as unknown as LiveRun) : undefined;
  return { run, find };
}

const refusals: Readonly<Record<string, CallRefusal>> = {
  spent: { granted: false, code: "budget_exceeded", detail: "all is spent" },
  turns: { granted: false, code: "too_many_turns", detail: "60 answers" },
  later: { granted: false, code: "rate_limited", detail: "try again" },
};

async function begun(
  answers: readonly string[],
  recordRefusal: SpendStore["recordRefusal"] = () => Promise.resolve(),
) {
  const { run, find } = runOf();
  const warnings: string[] = [];
  const waiting = [...answers];
  const meter: Meter = {
    begin: () => {
      const refusal = refusals[waiting.shift() ?? ""];
      const grant = {
        granted: true,
        maxOutputTokens: null,
        seen: () => undefined,
        settle: () => undefined,
      } as const;
      return Promise.resolve(refusal ?? grant);
    },
  };
  const warn = (message: string) => warnings.push(message);
  const noting = noteRefusals({ recordRefusal }, { warn }, { find }, meter);
  while (waiting.length > 0) await noting.begin(plan, AbortSignal.abort());
  return { why: run.overBudget, warnings };
}

test.each([
  [["granted", "spent"], "all is spent"],
  [["spent", "granted"], null],
  [["later"], null],
] as const)(
  'a run whose model calls were answered with %j ends as over budget for the reason "%s", or not for null',
  async (answers, why) => expect((await begun(answers)).why).toBe(why),
);

test("a run's first refused model call is stored once, before the run gets the refusal", async () => {
  const stored: string[] = [];
  const recordRefusal = async (_instanceId: string, reason: string | null) => {
    await new Promise((resolve) => setImmediate(resolve));
    stored.push(reason ?? "none");
  };
  await begun(["granted", "spent", "spent"], recordRefusal);
  expect(stored).toEqual(["all is spent"]);
  await begun(["spent", "granted", "turns"], recordRefusal);
  expect(stored).toEqual(["all is spent", "all is spent", "none", "60 answers"]);
});

test("a refused model call that can't be stored still marks the run as over budget, with a warning", async () => {
  const { why, warnings } = await begun(["spent"], () => Promise.reject(new Error("disk full")));
  expect(why).toBe("all is spent");
  expect(warnings).toEqual(["why dev-1 was refused a call is not recorded: disk full"]);
});

const at = { file: "agents/dev/config.toml", line: 1, column: 1 };

test.each([
  ["with an invalid config", [{ severity: "error", ...at, message: "broken" } as const]],
  ["that the project does not have", null],
])("the budget of an agent %s has no limits", (_, problems) => {
  const budget = { ...defaultBudget, dayUsd: 50, monthUsd: 600 };
  const context = schedulerContext({ project: { models: {}, timezone: "UTC", budget } });
  if (problems !== null)
    context.status.apply({ type: "agent-invalid", agent: "dev", at: 0, problems, sources: [] });
  const meter = createRunMeter(context, { of: () => [], find: () => undefined });
  const limits = meter.limits(["dev"]).map(({ scope, limit }) => [scope, limit]);
  expect(limits).toEqual([
    ["project", 50],
    ["project", 600],
    ["agent:dev", null],
    ["agent:dev", null],
  ]);
});

const warning = { window: "2026-11-22", percent: 80, usd: 0.81, limitUsd: 1 };

test("spending 80 % of an agent's budget logs a warning of the scheduler", async () => {
  const { find } = runOf();
  const warning$ = of({ ...warning, scope: "agent:dev" });
  expect(await firstValueFrom(budgetWarnings({ warning$ }, { find }))).toBe(
    "the budget of agent dev for 2026-11-22: $0.81 of $1.00 is spent, that is 80 % or more",
  );
});

test("spending 80 % of a run's budget logs a warning of the run", () => {
  const warnings: string[] = [];
  const logged: string[] = [];
  const { find } = runOf(warnings);
  const warning$ = of({ ...warning, window: "run", scope: "run:dev-1" });
  budgetWarnings({ warning$ }, { find }).subscribe((text) => logged.push(text));
  expect(warnings).toEqual(["this run's budget: $0.81 of $1.00 is spent, that is 80 % or more"]);
  expect(logged).toEqual([]);
});
