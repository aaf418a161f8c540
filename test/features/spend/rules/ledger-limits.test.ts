import { budgets, cent, ledgerOf, noon as now, raise } from "./support.ts";

const dayMs = 86_400_000;

describe("in the ledger", () => {
  test.each([
    ["run", budgets({ runUsd: 0.01 }), "run:dev-1", { instanceId: "dev-2" }],
    ["project's run", budgets({}, { runUsd: 0.01 }), "run:dev-1", { instanceId: "dev-2" }],
    ["agent's day", budgets({ dayUsd: 0.01 }), "agent:dev", { agent: "ops" }],
    ["agent's month", budgets({ monthUsd: 0.01 }), "agent:dev", { agent: "ops" }],
    ["project's day", budgets({}, { dayUsd: 0.01 }), "project", null],
    ["project's month", budgets({}, { monthUsd: 0.01 }), "project", null],
  ])("the %s limit refuses model calls of its own scope only", (_, limited, scope, unaffected) => {
    const { ask } = ledgerOf(limited);
    ask();
    expect(ask()).toMatchObject({ type: "refused", refusal: { scope } });
    if (unaffected !== null) expect(ask(unaffected).type).toBe("reserved");
  });

  test("a day's limit is reset on the next day, a month's is not", () => {
    const { ask, settle } = ledgerOf(budgets({ dayUsd: 0.01 }, { monthUsd: 0.02 }));
    for (const at of [now, now + dayMs]) {
      expect(ask({}, at)).toMatchObject({ nano: cent });
      settle(cent, {}, at);
    }
    const refusal = { scope: "project", window: "2026-11" };
    expect(ask({}, now + 2 * dayMs)).toMatchObject({ refusal });
    expect(ask({}, Date.parse("2026-12-01")).type).toBe("reserved");
  });

  test("a model call over midnight is charged to the day on which it began", () => {
    const { ask, settle, ledger } = ledgerOf();
    ask();
    settle(5, {}, now + dayMs);
    const spent = (at: number) =>
      ledger.accountsOf("dev", budgets(), at).map(({ account }) => account.spent);
    expect(spent(now)).toEqual([5, 5, 5, 5]);
    expect(spent(now + dayMs)).toEqual([0, 5, 0, 5]);
  });

  test("a lowered limit refuses model calls, a removed limit does not", () => {
    const { ask, settle } = ledgerOf();
    ask({ budgets: budgets({ dayUsd: 9 }) });
    settle(cent);
    expect(ask({ budgets: budgets({ dayUsd: 0.005 }) }).type).toBe("refused");
    expect(ask().type).toBe("reserved");
  });
});

test("a raised daily limit applies until the day ends, also to the agent's live runs", () => {
  const { ask, settle, apply } = ledgerOf(budgets({ runUsd: 0.01, dayUsd: 0.01 }));
  ask();
  settle(cent);
  expect(ask().type).toBe("refused");
  expect(apply(raise("agent:dev", cent, "dev-1"))).toMatchObject([
    {
      type: "raised",
      accounts: [{ window: "2026-11-22" }, { window: "2026-11" }, { scope: "run:dev-1" }],
    },
  ]);
  expect(ask().type).toBe("reserved");
  settle(cent);
  expect(ask({ instanceId: "dev-2" }).type).toBe("refused");
  const tomorrow = now + dayMs;
  ask({ instanceId: "dev-2" }, tomorrow);
  settle(cent, {}, tomorrow);
  expect(ask({ instanceId: "dev-3" }, tomorrow).type).toBe("refused");
});

test("a budget warns once a day or month, for the highest percentage that was exceeded", () => {
  const { ask, settle } = ledgerOf(budgets({ dayUsd: 1, warnAt: [50, 80] }, { warnAt: [] }));
  const warnedAt = (cents: number, at = now) => {
    ask({}, at);
    return settle(cents * cent, {}, at).flatMap((event) =>
      event.type === "warned" ? [event.account.scope, event.percent] : [],
    );
  };
  expect([49, 1, 1, 40, 1].map((cents) => warnedAt(cents))).toEqual([
    [],
    ["agent:dev", 50],
    [],
    ["agent:dev", 80],
    [],
  ]);
  expect(warnedAt(90, now + dayMs)).toEqual(["agent:dev", 80]);
});
