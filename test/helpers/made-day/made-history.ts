import { openStore, type Store } from "../../../src/foundation/store/store.ts";
import { skipping, type MadeRun } from "./made-runs.ts";

const dayMs = 86_400_000;

/** Stores the runs as their scheduler would have, through the store's own writes. */
export async function writeHistory(projectDir: string, runs: readonly MadeRun[]): Promise<void> {
  const store = openStore(projectDir);
  await store.recover();
  await store.work.enqueue(runs.map(({ item }) => item));
  await Promise.all(runs.map((run) => claim(store, run)));
  const byEnd = runs.toSorted((a, b) => a.endedAt - b.endedAt);
  await Promise.all(byEnd.map((run) => end(store, run)));
  await Promise.all(runs.map((run) => spend(store, run)));
  await skip(store, runs);
  store.close();
}

function claim(store: Store, { item, instanceId, version }: MadeRun): Promise<void> {
  return store.work.claim({ item, instanceId, agent: { name: item.agent } as never }, version);
}

function end(store: Store, { item, instanceId, startedAt, endedAt, end }: MadeRun): Promise<void> {
  return store.work.end(item, { instanceId, startedAt, at: endedAt, end });
}

/** One call to a model a run, charged to the agent and the project. */
async function spend(store: Store, { item, instanceId, startedAt, end }: MadeRun): Promise<void> {
  const nano = Math.round((end.usage?.costUsd ?? 0) * 1e9);
  const day = new Date(startedAt).toISOString().slice(0, 10);
  const turns = Math.ceil(startedAt / dayMs) * dayMs;
  const [year, month] = [new Date(startedAt).getUTCFullYear(), new Date(startedAt).getUTCMonth()];
  const monthEnds = Date.UTC(year, month + 1);
  const accounts = [
    { scope: `run:${instanceId}`, window: "run", endsAt: null },
    { scope: `agent:${item.agent}`, window: day, endsAt: turns },
    { scope: `agent:${item.agent}`, window: day.slice(0, 7), endsAt: monthEnds },
    { scope: "project", window: day, endsAt: turns },
    { scope: "project", window: day.slice(0, 7), endsAt: monthEnds },
  ];
  const model = { model: "scripted", providerModel: "scripted", billing: "priced" } as const;
  const call = { at: startedAt, day, instanceId, agent: item.agent, reserved: nano, accounts };
  const { billing } = model;
  const seq = await store.spend.reserve({ ...call, ...model, seen: 0 });
  const tokens = end.usage?.tokens ?? 0;
  const usage = { input: tokens - 80, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 80 };
  const settled = { seq, status: 200, billing, usage, estimated: false, nano, charged: nano };
  const times = { firstByteMs: 400, totalMs: 2_000, isTurn: true };
  await store.spend.settle({ ...settled, ...times, reserved: nano, accounts });
}

/** Ticks that came while the run before them was still going. */
async function skip(store: Store, runs: readonly MadeRun[]): Promise<void> {
  const reason = "all runners are busy";
  const last = runs.filter(({ item }) => item.agent === skipping).slice(-3);
  for (const { item } of last) {
    const skipped = { ...item, id: `${item.id}-skipped`, at: item.at + 60_000 };
    await store.work.refuse(skipped, "skipped", reason, false);
  }
}
