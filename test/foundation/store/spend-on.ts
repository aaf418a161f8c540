import { createSpend } from "../../../src/features/spend/spend-store.ts";
import type { Store } from "../../../src/foundation/store/store.ts";

/** Records a run of the agent for each cost (nano-dollars). */
export async function spendOn(
  store: Store,
  agent: string,
  costs: readonly number[],
): Promise<void> {
  for (const [index, nano] of costs.entries()) {
    const instanceId = `${agent}-${index}`;
    const accounts = [{ scope: `run:${instanceId}`, window: "run", endsAt: null }];
    const names = { instanceId, agent, model: "claude", providerModel: "claude-opus-5" };
    const call = {
      at: Date.now(),
      day: "2026-11-22",
      ...names,
      billing: "priced",
      accounts,
    } as const;
    const seq = await store.tables(createSpend).reserve({ ...call, reserved: nano, seen: 0 });
    const usage = { input: 1, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 1 };
    const { billing } = call;
    const amounts = { billing, nano, charged: nano, reserved: nano, isTurn: true, accounts };
    const times = { firstByteMs: 1, totalMs: 2 };
    await store
      .tables(createSpend)
      .settle({ seq, status: 200, usage, estimated: false, ...amounts, ...times });
  }
}
