import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { openStore } from "../../../src/features/open-store.ts";
import { type Store } from "../../../src/foundation/store/store.ts";
import type { MadeRun } from "./made-runs.ts";

const dayMs = 86_400_000;

/** Stores the runs as their scheduler would have, through the store's own writes. */
export async function writeHistory(projectDir: string, runs: readonly MadeRun[]): Promise<void> {
  const store = openStore(projectDir);
  await store.recover();
  await store.work.enqueue(runs.map(({ item }) => item));
  await Promise.all(
    runs.map(({ item, instanceId, version }) =>
      store.work.claim({ item, instanceId, agent: { name: item.agent } as never }, version),
    ),
  );
  const byEnd = runs.toSorted((a, b) => a.endedAt - b.endedAt);
  await Promise.all(
    byEnd.map(({ item, endedAt: at, ...run }) => store.work.end(item, { ...run, at })),
  );
  await Promise.all(runs.map((run) => spend(store, run)));
  store.close();
}

/** One call to a model a run, charged to the agent and the project. */
async function spend(store: Store, { item, instanceId, startedAt, end }: MadeRun): Promise<void> {
  const { agent } = item;
  const { costUsd, tokens } = end.usage ?? {};
  const nano = Math.round((costUsd ?? 0) * 1e9);
  const start = new Date(startedAt);
  const day = start.toISOString().slice(0, 10);
  const dayEnds = Math.ceil(startedAt / dayMs) * dayMs;
  const monthEnds = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1);
  const accounts = [
    { scope: `run:${instanceId}`, window: "run", endsAt: null },
    ...[`agent:${agent}`, "project"].flatMap((scope) => [
      { scope, window: day, endsAt: dayEnds },
      { scope, window: day.slice(0, 7), endsAt: monthEnds },
    ]),
  ];
  const model = { model: "scripted", providerModel: "scripted", billing: "priced" } as const;
  const call = { at: startedAt, day, instanceId, agent, reserved: nano, accounts, ...model };
  const seq = await store.tables(createSpend).reserve({ ...call, seen: 0 });
  const usage = {
    input: (tokens ?? 0) - 80,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: 80,
  };
  const settled = { seq, status: 200, usage, estimated: false, nano, charged: nano };
  const times = { firstByteMs: 400, totalMs: 2_000, isTurn: true };
  await store.tables(createSpend).settle({ ...settled, ...times, ...call });
}
