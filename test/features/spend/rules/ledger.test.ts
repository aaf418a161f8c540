import type { ReserveCommand } from "../../../../src/features/spend/rules/ledger-events.ts";
import { refusalText } from "../../../../src/features/spend/refusals.ts";
import { worstRates } from "../../../../src/foundation/contracts/price.ts";
import { budgets, cent, dollar, ledgerOf, noon as now, raise } from "./support.ts";

test("a model call far from every budget limit is granted unchanged", () => {
  const limited = budgets({ runUsd: 0.11, dayUsd: 1 }, { dayUsd: 5, monthUsd: 9 });
  expect(ledgerOf(limited).ask()).toMatchObject({
    type: "reserved",
    nano: cent,
    maxOutputTokens: null,
    run: { spent: 0, reserved: cent, turns: 1, tokens: 0 },
  });
});

describe("near a budget limit", () => {
  const limited = budgets({ runUsd: 0.008 });
  const free = worstRates({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, 1, false);

  test.each<[string, Partial<ReserveCommand>, object]>([
    [
      "an answer has at most as many tokens as the rest of the budget pays",
      {},
      { nano: 8_000_000, maxOutputTokens: 8_000 },
    ],
    [
      "a model call keeps its own token limit if the rest of the budget pays for it",
      { maxOutputTokens: 2_000 },
      { nano: 2_000_000, maxOutputTokens: null },
    ],
    [
      "a model call without a token limit gets one",
      { maxOutputTokens: null, modelMaxTokens: 3_000 },
      { maxOutputTokens: 3_000 },
    ],
    [
      "the cost of the input is subtracted before the output is limited",
      { requestBytes: 9_000 },
      { nano: 8_000_000, maxOutputTokens: 5_000 },
    ],
    [
      "a model call that needs more tokens for thinking is refused",
      { minOutputTokens: 9_000 },
      { type: "refused" },
    ],
    [
      "a model call that asks for a short answer is granted",
      { requestBytes: 23_000, maxOutputTokens: 100 },
      { type: "reserved", maxOutputTokens: null },
    ],
    [
      "a call to a free model is never refused",
      { budgets: budgets({ runUsd: 0 }), rates: free },
      { nano: 0, maxOutputTokens: null },
    ],
  ])("%s", (_, more, event) => {
    expect(ledgerOf(limited).ask(more)).toMatchObject(event);
  });

  test("a model call that could pay only a useless answer is refused with the amount that it needs", () => {
    const { ask, settle } = ledgerOf(limited);
    ask();
    settle(7_000_000);
    const refused = ask();
    expect(refused).toMatchObject({
      type: "refused",
      refusal: { code: "budget_exceeded", needed: 1_024_000, mayComeBack: false },
    });
    if (refused.type !== "refused") return;
    expect(refusalText(refused.refusal)).toBe(
      "this run's budget too small for the next call: $0.007 of $0.008 spent, the call needs at least $0.001. Raise `run` in the agent's [budget], then al replay <entry>",
    );
  });
});

test("the estimated input of a model call is the last request's tokens plus the new bytes", () => {
  const { ask, settle } = ledgerOf();
  const nanoOf = (requestBytes: number, instanceId = "dev-1") => {
    const event = ask({ maxOutputTokens: 0, requestBytes, instanceId });
    return event.type === "reserved" ? event.nano : null;
  };
  expect(nanoOf(3_000)).toBe(1_000_000);
  settle(0, { inputTokens: 700 });
  expect([nanoOf(3_300), nanoOf(30), nanoOf(3_300, "dev-2")]).toEqual([
    800_000, 700_000, 1_100_000,
  ]);
});

test("the ledger of spending begins with the stored amounts", () => {
  const stored = { spent: cent, raised: cent, warned: 80, turns: 3, tokens: 7 };
  const { ask } = ledgerOf(budgets({ runUsd: 0.005 }), (scope) =>
    scope === "run:dev-1" ? stored : null,
  );
  expect(ask()).toMatchObject({ nano: 5_000_000 });
  expect(ask({ budgets: budgets({ turns: 4 }) }).type).toBe("refused");
});

test("the ledger of spending forgets ended runs, days and months", () => {
  const { ask, settle, apply, ledger } = ledgerOf();
  for (let n = 0; n < 2_000; n++) {
    const at = now + n * 3_600_000;
    const run = { instanceId: `dev-${n}`, agent: `agent-${n % 7}` };
    ask({ ...run, rates: worstRates(dollar, 1, true) }, at);
    apply({ type: "ended", instanceId: run.instanceId }, at);
    settle(1, {}, at);
  }
  expect(ledger.size()).toBeLessThan(20);
});

const approved = 1.5 * cent;

test("a model call beyond the amount that a person approved is refused without marking the run as over budget", () => {
  const { ask, settle, ledger } = ledgerOf();
  ask({ approved });
  settle(cent);
  expect(ask({ approved, minOutputTokens: 10_000 })).toMatchObject({
    type: "refused",
    refusal: { code: "not_approved", scope: "run:dev-1", spent: cent, cap: approved },
  });
  expect(ledger.runAccount("dev-1", now).neededCap).toBeNull();
  expect(ask({ approved: 2 * cent })).toMatchObject({ type: "reserved", nano: cent });
});

test("raising the budget does not raise the approved amount of a run; a refusal names the budget if both are exceeded", () => {
  const { ask, apply } = ledgerOf();
  apply(raise("run:dev-1", 5 * cent));
  const least = { approved, minOutputTokens: 20_000, maxOutputTokens: 20_000 };
  expect(ask(least)).toMatchObject({ refusal: { code: "not_approved", cap: approved } });
  const tight = budgets({ runUsd: 0.001 }, {});
  const other = { ...least, instanceId: "dev-2", budgets: tight };
  expect(ask(other)).toMatchObject({ refusal: { code: "budget_exceeded" } });
});
