import { createSpend, type ReservedCall } from "../../../src/features/spend/spend-store.ts";
import type { SettledCall } from "../../../src/foundation/contracts/spend.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import {
  callItem,
  cronItem,
  manualItem,
  requestFor,
  succeeded,
  tempStore,
  webhookItem,
  claimed,
  wholeHistory,
  reopened,
} from "../../foundation/store/support.ts";

const dayMs = 86_400_000;
const now = Date.parse("2026-11-22T12:00:00Z");
const run = { scope: "run:dev-1", window: "run", endsAt: null };
const today = { scope: "project", window: "2026-11-22", endsAt: Date.parse("2026-11-23") };
const month = { scope: "project", window: "2026-11", endsAt: Date.parse("2026-12-01") };
const accounts = [run, today, month];

const begun: ReservedCall = {
  at: now,
  day: "2026-11-22",
  instanceId: "dev-1",
  agent: "dev",
  model: "claude",
  providerModel: "claude-opus-5",
  billing: "priced",
  reserved: 500,
  seen: 30,
  accounts,
};
const ended: Omit<SettledCall, "seq"> = {
  status: 200,
  billing: "priced",
  usage: { input: 1, cacheRead: 20, cacheWrite: 300, cacheWrite1h: 100, output: 4_000 },
  estimated: false,
  nano: 400,
  charged: 400,
  reserved: 500,
  isTurn: true,
  firstByteMs: 12.4,
  totalMs: 100.6,
  accounts,
};

async function made(
  store: Store,
  call: Partial<ReservedCall> = {},
  end: Partial<SettledCall> = {},
): Promise<number> {
  const seq = await store.tables(createSpend).reserve({ ...begun, ...call });
  const { accounts: charged = accounts, reserved = 500, billing = "priced" } = call;
  await store
    .tables(createSpend)
    .settle({ ...ended, seq, billing, accounts: charged, reserved, ...end });
  return seq;
}

const account = { spent: 0, raised: 0, warned: 0, turns: 0, tokens: 0 };

test("a refusal of a run is stored until the next, and does not count as its agent's spending", async () => {
  const store = tempStore();
  const spend = store.tables(createSpend);
  expect(spend.refusal("dev-1")).toBeNull();
  await spend.recordRefusal("dev-1", "all is spent");
  expect(spend.refusal("dev-1")).toBe("all is spent");
  expect(spend.lastRuns(20)).toEqual(new Map());
  await made(store);
  expect(spend.refusal("dev-1")).toBe("all is spent");
  expect(spend.account("run:dev-1", "run")).toMatchObject({ spent: 400, turns: 1 });
  await spend.recordRefusal("dev-1", null);
  expect(spend.refusal("dev-1")).toBeNull();
});

test("a budget's account has the reservation, then the amount spent", async () => {
  const spend = tempStore().tables(createSpend);
  expect(spend.account("project", "2026-11")).toBeNull();
  const seq = await spend.reserve(begun);
  expect(spend.account("project", "2026-11")).toEqual({ ...account, spent: 500 });
  expect(spend.account("run:dev-1", "run")).toEqual({ ...account, spent: 500, turns: 1 });
  await spend.settle({ ...ended, seq });
  await spend.settle({ ...ended, seq });
  const tokens = 4_321;
  expect(spend.account("run:dev-1", "run")).toEqual({ ...account, spent: 400, turns: 1, tokens });
  expect(spend.accounts(["2026-11"])).toMatchObject([{ nano: 400, reserved: 0 }]);
});

test("a dead scheduler's open calls are charged once for requests and streamed answers, as estimates, in each account and in their run's cost", async () => {
  const first = tempStore();
  const spend = first.tables(createSpend);
  const item = cronItem("dev");
  await claimed(first, item, "dev-1");
  const seq = await spend.reserve(begun);
  await spend.reserve({ ...begun, billing: "subscription", reserved: 0 });
  await made(first);
  const own = [{ ...run, scope: "run:ops-1" }, today, month];
  await spend.reserve({ ...begun, agent: "ops", instanceId: "ops-1", accounts: own });
  await spend.see(seq, 100);
  // The run ended before its call, with the reservation in its cost.
  const end = { ...succeeded, usage: { model: null, tokens: 0, costUsd: 9e-7, turns: 1 } };
  await first.work.end(item, { instanceId: "dev-1", startedAt: now, end });
  for (let start = 0; start < 2; start++) {
    const store = reopened(first);
    await store.recover();
    const charged = store.tables(createSpend);
    expect(charged.account("run:dev-1", "run")?.spent).toBe(500);
    expect(charged.account("run:ops-1", "run")?.spent).toBe(30);
    expect(charged.account("project", "2026-11-22")?.spent).toBe(530);
    expect(charged.accounts(["2026-11"])).toMatchObject([{ nano: 530, reserved: 0 }]);
    expect(store.history.query(wholeHistory).triggers[0]?.costUsd).toBeCloseTo(5e-7, 12);
    const run = { nano: 500, subscriptionNano: 30, calls: 3, estimated: 2 };
    expect(charged.run("dev-1")).toMatchObject(run);
    store.close();
  }
});

test("a spending report adds up whole days, and the rest of a day that the query cuts in two", async () => {
  const store = tempStore(undefined, () => now);
  const spend = store.tables(createSpend);
  for (const day of ["2026-11-20", "2026-11-21", "2026-11-22"]) {
    for (const hour of [2, 20]) {
      const at = Date.parse(day) + hour * 3_600_000;
      await made(store, { at, day }, { nano: hour, charged: hour });
    }
  }
  const usd = (since: string) =>
    spend.rows({ by: "day", since: Date.parse(since), agent: null }).map(({ nano }) => nano);
  expect(usd("2026-11-01T00:00:00Z")).toEqual([22, 22, 22]);
  expect(usd("2026-11-21T12:00:00Z")).toEqual([20, 22]);
  expect(usd("2026-11-22T21:00:00Z")).toEqual([]);
  const since = Date.parse("2026-11-21T12:00:00Z");
  expect(spend.rows({ by: "agent", since, agent: "dev" })).toMatchObject([
    { key: "dev", nano: 42, calls: 3, tokens: 3 * 4_321 },
  ]);
  await store.prune({ now: now + 13 * dayMs, days: 14, maxBytes: 1e12 });
  expect(usd("2026-11-01T00:00:00Z")).toEqual([20, 22]);
});

test("a spending report has each agent's last ended runs, the latest first", async () => {
  let time = now;
  const store = tempStore(undefined, () => time);
  const item = manualItem("a");
  await claimed(store, item, "dev-3");
  for (const n of [1, 2, 3]) {
    time += 1_000;
    const instanceId = `dev-${n}`;
    const own = [{ ...run, scope: `run:${instanceId}` }, today];
    await made(store, { instanceId, accounts: own }, { charged: n });
  }
  const costs = (limit: number) => store.tables(createSpend).lastRuns(limit).get("dev")?.costs;
  expect([costs(20), costs(1)]).toEqual([[2, 1], [2]]);
  await store.work.end(item, { instanceId: "dev-3", startedAt: now, end: succeeded });
  expect(costs(20)).toEqual([3, 2, 1]);
});

test("a spending report has how many runs webhooks and calls start in a month, by the rate since the first trigger", async () => {
  const at = now - 10 * dayMs;
  const store = tempStore(undefined, () => now);
  const called = { ...callItem("b"), at: now };
  const items = [webhookItem("a", "r1", "dev", at), called, cronItem("c", "dev", now)];
  for (const item of [...items, manualItem("d", "dev", now)]) {
    await store.work.enqueue([item]);
    await store.work.claim(requestFor(item, `dev-${item.id}`));
  }
  await store.work.enqueue([webhookItem("never-started", "r2", "dev", now)]);
  const replaced = webhookItem("replaced", "r3", "dev", now);
  await store.work.refuse(replaced, "superseded", "newer", false);
  const end = { ...succeeded, outcome: "superseded" } as const;
  await store.work.end(called, { instanceId: "dev-b", startedAt: now, end });
  await made(store);
  const triggered = () => store.tables(createSpend).lastRuns(20).get("dev")?.triggered;
  expect(triggered()).toBe(6);
});

test("pruning keeps the calls that a limit still counts: the month's, open ones, those of live runs", async () => {
  let time = now - 20 * dayMs;
  const store = tempStore(undefined, () => time);
  const item = manualItem("a");
  await claimed(store, item, "dev-2");
  const day = { scope: "project", window: "2026-11-02", endsAt: Date.parse("2026-11-03") };
  const suspended = { ...run, scope: "run:dev-2" };
  await made(store, { at: time, accounts: [run, day, month] });
  await made(store, { at: time, accounts: [suspended, day, month] });
  await store.tables(createSpend).reserve({ ...begun, at: time, accounts: [run] });
  const over = { ...run, scope: "run:dev-9" };
  await made(store, { at: time, accounts: [over] });
  time = now;
  expect(await store.prune({ now, days: 14, maxBytes: 1e12 })).toBe(3);
  const spent = (scope: string, window: string) =>
    store.tables(createSpend).account(scope, window)?.spent;
  expect([spent("project", "2026-11"), spent("project", "2026-11-02")]).toEqual([800, undefined]);
  expect([spent("run:dev-1", "run"), spent("run:dev-2", "run")]).toEqual([900, 400]);
  expect(spent("run:dev-9", "run")).toBeUndefined();
});

test("the calls of a run are listed in their order: open ones without an end, a subscription's without a cost", async () => {
  const store = tempStore();
  const spend = store.tables(createSpend);
  await made(store, {}, { nano: 4e8 });
  await made(store, { instanceId: "dev-2" });
  await made(store, { at: now + 1, billing: "subscription" }, { usage: null, status: null });
  await spend.reserve({ ...begun, at: now + 2 });
  const call = { model: "claude", tokens: null, status: null };
  expect(spend.callsOf("dev-1")).toEqual([
    { ...call, at: now, totalMs: 101, status: 200, tokens: 4_321, usd: 0.4 },
    { ...call, at: now + 1, totalMs: 101, usd: null },
    { ...call, at: now + 2, totalMs: null, usd: 0 },
  ]);
});
