import fc from "fast-check";
import { limitsOf, type Budgets } from "../../../../src/foundation/contracts/budget.ts";
import { createLedger } from "../../../../src/features/spend/rules/ledger.ts";
import type { LedgerCommand } from "../../../../src/features/spend/rules/ledger-events.ts";
import { nanoOfUsd } from "../../../../src/foundation/contracts/money.ts";
import { worstRates } from "../../../../src/foundation/contracts/price.ts";
import { budgets, createBooks, raise, reserve, settle } from "./support.ts";

const usd = fc.option(fc.integer({ min: 0, max: 200 }).map((cents) => cents / 100));
const budget = fc.record({
  runUsd: usd,
  dayUsd: usd,
  monthUsd: usd,
  turns: fc.option(fc.integer({ min: 0, max: 30 }), { freq: 3 }),
});
const rate = fc.integer({ min: 0, max: 50_000_000 }).map((n) => n / 1_000_000);

const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("begin" as const),
      run: fc.integer({ min: 0, max: 5 }),
      requestBytes: fc.integer({ min: 0, max: 60_000 }),
      asked: fc.option(fc.integer({ min: 0, max: 64_000 })),
      least: fc.integer({ min: 1, max: 5_000 }),
      input: rate,
      output: rate,
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("end" as const),
      which: fc.nat(),
      /** A share of the reservation. */
      percent: fc.integer({ min: 0, max: 100 }),
      isTurn: fc.boolean(),
      tokens: fc.option(fc.integer({ min: 0, max: 20_000 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("raise" as const),
      scope: fc.constantFrom("project", "agent:x0", "agent:x1", "run:x0-0"),
      nano: fc.integer({ min: 0, max: 500_000_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("run over" as const), run: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("time" as const),
      // Back, too, and over midnight.
      ms: fc.integer({ min: -90_000_000, max: 90_000_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("config" as const), agent: budget, project: budget }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Plays operations on a ledger and believes nothing but its events. */
function play(operations: readonly Operation[], first: Budgets): Record<string, number> {
  const books = createBooks();
  const counts: Record<string, number> = {};
  const open = new Map<string, number>();
  let ledger = createLedger(books.read);
  let limited = first;
  let now = Date.parse("2026-11-30T12:00:00Z");

  const limitFor = (scope: string, window: string): number | null => {
    const limits = limitsOf(limited);
    if (scope.startsWith("run:")) return limits.run.nano;
    const isDay = window.length === "2026-11-30".length;
    if (scope === "project") return (isDay ? limits.projectDay : limits.projectMonth).nano;
    return (isDay ? limits.agentDay : limits.agentMonth).nano;
  };
  const apply = (command: LedgerCommand) => {
    for (const event of ledger.apply(command, now)) {
      counts[event.type] = (counts[event.type] ?? 0) + 1;
      books.onEvent(event);
      if (event.type === "settled") open.delete(event.call);
      if (event.type !== "reserved") continue;
      open.set(event.call, event.nano);
      for (const key of event.accounts) {
        const { spent, reserved, raised, turns } = books.of(key);
        const limit = limitFor(key.scope, key.window);
        // Plain comparisons: there are a million of them.
        if (limit !== null && event.nano > 0 && spent + reserved > limit + raised) {
          throw new Error(`${spent} + ${reserved} of ${limit} + ${raised}: ${key.scope}`);
        }
        const most = limitsOf(limited).turns;
        if (key.window === "run" && most !== null && turns > most) {
          throw new Error(`${turns} turns of ${most}`);
        }
      }
    }
  };
  const obey = (one: Operation, n: number) => {
    switch (one.do) {
      case "begin": {
        const { run, requestBytes, asked, least, input, output } = one;
        const [agent, instanceId] = [`x${run % 2}`, `x${run % 2}-${run}`];
        const rates = worstRates({ input, output, cacheRead: 0, cacheWrite: 0 }, 1, false);
        const tokens = { maxOutputTokens: asked, minOutputTokens: least };
        const more = { instanceId, agent, requestBytes, rates, ...tokens, budgets: limited };
        return apply(reserve(`${n}`, more));
      }
      case "end": {
        const [call, reserved] = [...open][one.which % Math.max(1, open.size)] ?? ["none", 0];
        const nano = Math.floor((reserved * one.percent) / 100);
        const { isTurn, tokens: inputTokens } = one;
        return apply(settle(call, { nano, inputTokens, isTurn, budgets: limited }));
      }
      case "raise":
        return apply(raise(one.scope, one.nano));
      case "run over":
        return apply({ type: "ended", instanceId: `x${one.run % 2}-${one.run}` });
      case "time":
        now += one.ms;
        return;
      case "config":
        limited = budgets(one.agent, one.project);
        return;
      case "crash":
        books.crash();
        open.clear();
        ledger = createLedger(books.read);
    }
  };
  for (const [n, one] of operations.entries()) obey(one, n);
  for (const call of [...open.keys()]) apply(settle(call, { budgets: limited }));
  for (const { account } of ledger.accountsOf("x0", limited, now)) {
    const { spent, reserved, raised } = books.of(account);
    expect([account.spent, account.reserved, account.raised]).toEqual([spent, 0, raised]);
    expect(reserved).toBe(0);
  }
  return counts;
}

test("no granted model call takes the spent and reserved amounts over a limit, for random operations in any order", () => {
  const total: Record<string, number> = {};
  const operations = fc.array(operation, { minLength: 40, maxLength: 120 });
  const limited = fc.tuple(budget, budget).map(([agent, project]) => budgets(agent, project));
  fc.assert(
    fc.property(operations, limited, (all, first) => {
      for (const [type, n] of Object.entries(play(all, first))) {
        total[type] = (total[type] ?? 0) + n;
      }
    }),
    { numRuns: 2_000, seed: 20_261_122 },
  );
  // Otherwise nothing was shown.
  for (const type of ["reserved", "refused", "settled", "raised", "warned"]) {
    expect(total[type]).toBeGreaterThan(1_000);
  }
});

test("a model call near a limit is never granted more tokens than it requested or fewer than its minimum", () => {
  const tokens = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(usd, fc.option(tokens), tokens, rate, (runUsd, asked, least, output) => {
      const rates = worstRates({ input: 1, output, cacheRead: 0, cacheWrite: 0 }, 1, false);
      const more = { maxOutputTokens: asked, minOutputTokens: least, rates };
      const limited = budgets({ runUsd });
      const [event] = createLedger(() => null).apply(
        reserve("a", { ...more, budgets: limited }),
        0,
      );
      if (event?.type !== "reserved") return;
      const wanted = asked ?? 64_000;
      const given = event.maxOutputTokens ?? wanted;
      expect(given).toBeLessThanOrEqual(wanted);
      expect(given).toBeGreaterThanOrEqual(Math.min(least, wanted));
      if (runUsd !== null) expect(event.nano).toBeLessThanOrEqual(nanoOfUsd(runUsd));
    }),
    { numRuns: 3_000 },
  );
});
