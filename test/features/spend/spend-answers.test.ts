import { createSpend } from "../../../src/features/spend/spend-store.ts";
import type { CallEnd, CallPlan } from "../../../src/foundation/contracts/model-gateway.ts";
import { createSpendAnswers } from "../../../src/features/spend/spend-answers.ts";
import { newRecord, type AgentRecord } from "../../../streams/status/agent-record.ts";
import { anAgent } from "../../helpers/agents.ts";
import { answered, plan, tempMeter, terms } from "./support.ts";
import { budgets } from "./rules/support.ts";

const noon = Date.parse("2026-11-22T12:00:00Z");
const daily = { schedule: "0 9 * * *", timezone: "UTC" };

function agent(name: string, more: Partial<AgentRecord> = {}): AgentRecord {
  return { ...newRecord(name), config: anAgent(name, daily), ...more };
}

/** A meter whose agent may spend $5 a day, and the answers about what it let through. */
function spending(agents: readonly AgentRecord[] = [agent("dev")]) {
  let now = noon;
  const budgetsOf = () => budgets({ dayUsd: 5 });
  const { begin, meter, store } = tempMeter({
    now: () => now,
    budgetsOf,
    termsOf: (model) =>
      Promise.resolve({ ...terms, ...(model !== "claude" && { billing: model as "unpriced" }) }),
  });
  const deps = {
    report: store.tables(createSpend),
    limits: (names: readonly string[]) => meter.limits(names),
    agents: () => agents,
    timezone: () => "UTC",
    now: () => now,
  };
  const pay = async (end: CallEnd, call: Partial<CallPlan> = {}) => {
    (await begin(call)).settle(end);
    // A write of its own comes after what is written before.
    await store.tables(createSpend).raise([], 0);
  };
  return { begin, pay, store, ask: createSpendAnswers(deps), setNow: (at: number) => (now = at) };
}

test("a spending report adds up calls by agent, model and day", async () => {
  const { begin, pay, ask, setNow } = spending();
  setNow(noon - 86_400_000);
  await pay(answered(5_000));
  setNow(noon);
  await pay(answered(2_000), { agent: "cat", instanceId: "cat-1" });
  await pay(answered(1_000, { estimated: true }), { model: "unpriced" });
  await pay(answered(4_000), { model: "subscription" });
  await begin({ agent: "cat", instanceId: "cat-1" });
  const none = { subscriptionUsd: 0, unpriced: 0, estimated: 0 };
  const ofDev = { subscriptionUsd: 0.004, unpriced: 1, estimated: 1 };
  expect(ask({ by: "agent" }).rows).toEqual([
    { key: "dev", usd: 0.006, calls: 3, tokens: 10_000, ...ofDev },
    { key: "cat", usd: 0.002, calls: 2, tokens: 2_000, ...none },
  ]);
  const [yesterday, today] = ask({ by: "day", top: 1 }).rows;
  expect([yesterday?.agents, today?.agents]).toEqual([{ dev: 0.005 }, { dev: 0.001 }]);
  expect(ask({ by: "model" }).rows).toMatchObject([
    { key: plan.model, usd: 0.007, unpriced: 0 },
    { key: "unpriced", usd: 0.001, unpriced: 1 },
    { key: "subscription", usd: 0 },
  ]);
  expect(ask({ by: "day" }).rows).toMatchObject([
    { key: "2026-11-21", usd: 0.005 },
    { key: "2026-11-22", usd: 0.003 },
  ]);
  expect(ask({ by: "day", agent: "cat" }).rows).toMatchObject([{ key: "2026-11-22", calls: 2 }]);
  const since = "2026-11-22T00:00:00+01:00";
  expect(ask({ by: "agent", since }).rows).toMatchObject([{ key: "cat" }, { key: "dev" }]);
});

test("the forecast counts the cost of the last runs of enabled agents with a schedule", async () => {
  const others = [
    agent("off", { enabled: false }),
    agent("called", { config: anAgent("called", { schedule: null }) }),
    agent("broken", { config: null }),
    agent("none", { config: anAgent("none", { ...daily, scale: 0 }) }),
  ];
  const { pay, ask } = spending([agent("dev"), ...others]);
  expect(ask({ by: "day" }).forecast).toBeNull();
  for (const { name } of others) {
    await pay(answered(9_000), { agent: name, instanceId: `${name}-1` });
  }
  expect(ask({ by: "day" }).forecast).toBeNull();
  await pay(answered(1_000));
  await pay(answered(3_000), { instanceId: "dev-2" });
  expect(ask({ by: "day" }).forecast).toEqual({ monthUsd: 0.03, p90Usd: 0.09 });
  expect(ask({ by: "day", agent: "off" }).forecast).toBeNull();
});

test("a spending report has whole days, with today, by default 30", async () => {
  const { pay, ask, setNow } = spending();
  for (const ago of [30, 29, 7, 6, 0]) {
    setNow(noon - ago * 86_400_000 - 12 * 3_600_000);
    await pay(answered(1_000_000));
  }
  setNow(noon);
  const days = (asked: object) => ask({ by: "day", ...asked }).rows.map(({ key }) => key);
  expect(days({ days: 7 })).toEqual(["2026-11-16", "2026-11-22"]);
  expect(days({})).toEqual(["2026-10-24", "2026-11-15", "2026-11-16", "2026-11-22"]);
});
