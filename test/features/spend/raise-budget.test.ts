import { raiseBudget } from "../../../src/features/spend/spend-answers.ts";
import type { RaiseBudgetDeps } from "../../../src/features/spend/spend-answers.ts";
import { tempMeter } from "../../features/spend/support.ts";
import { budgets } from "../../features/spend/rules/support.ts";

test("raiseBudget returns how much a rejected call needs if the raise does not pay it", async () => {
  const { meter, refusal } = tempMeter({ budgetsOf: () => budgets({ dayUsd: 0.0001 }) });
  await refusal();
  const raise = (usd: number) => raiseBudget("agent:dev", usd, { ...depsOf(), meter });
  const [day] = await raise(0.0001);
  expect(day).toMatchObject({ usd: 0, needed: 0.001024 });
  expect((await raise(1))[0]).not.toHaveProperty("needed");
});

function depsOf(): RaiseBudgetDeps {
  const budgetsOf = () => budgets({ dayUsd: 1 }, { monthUsd: 20 });
  const { meter } = tempMeter({ budgetsOf });
  const status = { agent: (name: string) => (name === "dev" ? { name } : undefined) };
  const runs = { find: () => undefined };
  return { meter, status: status as unknown as RaiseBudgetDeps["status"], runs };
}

test.each([
  ["project", [null, 22.5]],
  ["agent:dev", [3.5, null]],
])(
  "raiseBudget of %s returns the raised limits of the day and the month, null for one that is not set: %j",
  async (scope, limits) => {
    const raised = await raiseBudget(scope, 2.5, depsOf());
    expect(raised.map(({ window }) => window)).toEqual(["2026-11-22", "2026-11"]);
    expect(raised.map(({ limit }) => limit)).toEqual(limits);
    expect(new Set(raised.map((one) => one.scope))).toEqual(new Set([scope]));
  },
);

test.each([
  ["agent:nope", "unknown_agent"],
  ["run:dev-1", "unknown_instance"],
  ["team", "unknown_budget"],
])("raiseBudget rejects the scope %s with %s", async (scope, code) => {
  await expect(raiseBudget(scope, 1, depsOf())).rejects.toMatchObject({ code });
});
