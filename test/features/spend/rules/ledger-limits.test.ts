import { budgets, cent, ledgerOf, noon as now, raise } from "./support.ts";

const dayMs = 86_400_000;

describe("limits", () => {
  test.each([
    ["run", budgets({ runUsd: 0.01 }), "run:dev-1", { instanceId: "dev-2" }],
    ["project's run", budgets({}, { runUsd: 0.01 }), "run:dev-1", { instanceId: "dev-2" }],
    ["agent's day", budgets({ dayUsd: 0.01 }), "agent:dev", { agent: "ops" }],
    ["agent's month", budgets({ monthUsd: 0.01 }), "agent:dev", { agent: "ops" }],
    ["project's day", budgets({}, { dayUsd: 0.01 }), "project", null],
    ["project's month", budgets({}, { monthUsd: 0.01 }), "project", null],
  ])("the %s limit is separate", (_, limited, scope, unaffected) => {
    const { ask } = ledgerOf();
    ask("a", { budgets: limited });
    expect(ask("b", { budgets: limited })).toMatchObject({ type: "refused", refusal: { scope } });
    if (unaffected === null) return;
    expect(ask("c", { budgets: limited, ...unaffected }).type).toBe("reserved");
  });

  test("a day's starts anew on the next day, the month's does not", () => {
    const { ask, settle } = ledgerOf();
    const limited = budgets({ dayUsd: 0.01 }, { monthUsd: 0.02 });
    for (const [n, at] of [now, now + dayMs].entries()) {
      expect(ask(`${n}`, { budgets: limited }, at)).toMatchObject({ nano: cent });
      settle(`${n}`, cent, {}, at);
    }
    expect(ask("c", { budgets: limited }, now + 2 * dayMs)).toMatchObject({
      refusal: { scope: "project", window: "2026-11" },
    });
    expect(ask("d", { budgets: limited }, Date.parse("2026-12-01")).type).toBe("reserved");
  });

  test("a call over midnight is charged to the day it began on", () => {
    const { ask, settle, ledger } = ledgerOf();
    ask("a", {}, now);
    settle("a", 5, {}, now + dayMs);
    const spent = (at: number) =>
      ledger.accountsOf("dev", budgets(), at).map(({ account }) => account.spent);
    expect([spent(now), spent(now + dayMs)]).toEqual([
      [5, 5, 5, 5],
      [0, 5, 0, 5],
    ]);
  });

  test("a lowered limit rejects calls, a removed one does not", () => {
    const { ask, settle } = ledgerOf();
    ask("a", { budgets: budgets({ dayUsd: 9 }) });
    settle("a", cent);
    expect(ask("b", { budgets: budgets({ dayUsd: 0.005 }) }).type).toBe("refused");
    expect(ask("c").type).toBe("reserved");
  });
});

test("a raise counts until the window turns, for the agent's live runs too", () => {
  const { ask, settle, apply } = ledgerOf();
  const limited = { budgets: budgets({ runUsd: 0.01, dayUsd: 0.01 }) };
  ask("a", limited);
  settle("a", cent);
  expect(ask("b", limited).type).toBe("refused");
  expect(apply(raise("agent:dev", cent, "dev-1"))).toMatchObject([
    {
      type: "raised",
      accounts: [{ window: "2026-11-22" }, { window: "2026-11" }, { scope: "run:dev-1" }],
    },
  ]);
  expect(ask("b", limited).type).toBe("reserved");
  settle("b", cent);
  expect(ask("c", { ...limited, instanceId: "dev-2" }).type).toBe("refused");
  const tomorrow = now + dayMs;
  ask("d", { ...limited, instanceId: "dev-2" }, tomorrow);
  settle("d", cent, {}, tomorrow);
  expect(ask("e", { ...limited, instanceId: "dev-3" }, tomorrow).type).toBe("refused");
});

test("a run's own limit can be raised", () => {
  const { ask, apply } = ledgerOf();
  const limited = { budgets: budgets({ runUsd: 0 }) };
  expect(ask("a", limited).type).toBe("refused");
  apply(raise("run:dev-1", cent));
  expect(ask("a", limited).type).toBe("reserved");
});

test("a warning comes once a window, for the highest percentage that was passed", () => {
  const { ask, settle } = ledgerOf();
  const limited = { budgets: budgets({ dayUsd: 1, warnAt: [50, 80] }, { warnAt: [] }) };
  const warned = (call: string, nano: number, at = now) => {
    ask(call, limited, at);
    return settle(call, nano, limited, at).flatMap((event) =>
      event.type === "warned" ? [[event.account.scope, event.percent]] : [],
    );
  };
  expect(warned("a", 490_000_000)).toEqual([]);
  expect(warned("b", 10_000_000)).toEqual([["agent:dev", 50]]);
  expect(warned("c", 10_000_000)).toEqual([]);
  expect(warned("d", 400_000_000)).toEqual([["agent:dev", 80]]);
  expect(warned("e", 10_000_000)).toEqual([]);
  expect(warned("f", 900_000_000, now + dayMs)).toEqual([["agent:dev", 80]]);
});
