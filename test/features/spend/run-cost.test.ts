import { withCost } from "../../../src/features/spend/used-budget-events.ts";
import type { RunEvent, Usage } from "../../../streams/vocabulary.ts";

/** Counted 0.25 USD and 3 turns of the run. */
const meter = {
  run: (instanceId: string, agent: string) => {
    return { instanceId, agent, usd: 0.25, reservedUsd: 0, turns: 3, tokens: 40 };
  },
};

function finished(usage: Usage | null): RunEvent {
  const trigger = { kind: "manual", prompt: null } as const;
  const item = { id: "1", agent: "dev", at: 0, attempt: 1, trigger };
  const end = { outcome: "killed", exitCode: 137, reason: null, usage } as const;
  const run = { agent: "dev", at: 5, item, instanceId: "dev-1", startedAt: 0 };
  return { type: "finished", ...run, end };
}

const reported: Usage = { model: "claude", tokens: 10, costUsd: 0.2, turns: 2 };

test.each<[string, Usage | null, Usage]>([
  ["reported nothing", null, { model: null, tokens: 40, costUsd: 0.25, turns: 3 }],
  ["knew no price", { ...reported, costUsd: null }, { ...reported, tokens: 40, costUsd: 0.25 }],
  ["counted otherwise", reported, { ...reported, tokens: 40, costUsd: 0.25 }],
])("a run that %s has the tokens and costs that the scheduler counted", (_name, usage, expected) =>
  expect(withCost(finished(usage), meter)).toMatchObject({ end: { usage: expected } }),
);

test("an open call counts with its highest cost", () => {
  const run = { ...meter.run("dev-1", "dev"), reservedUsd: 0.5 };
  expect(withCost(finished(null), { run: () => run })).toMatchObject({
    end: { usage: { costUsd: 0.75 } },
  });
});

test("a run whose calls charge no budget keeps the cost that it reported", () => {
  const run = { ...meter.run("dev-1", "dev"), usd: 0 };
  const event = finished(reported);
  expect(withCost(event, { run: () => run })).toMatchObject({
    end: { usage: { ...reported, tokens: 40 } },
  });
  expect(withCost(event, { run: () => ({ ...run, tokens: 0 }) })).toBe(event);
});
