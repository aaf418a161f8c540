import type { Outcome } from "../../../streams/outcomes.ts";
import { bucketMs } from "../../../src/foundation/store/history-filter.ts";
import type { HistoryPage, HistoryQuery } from "../../../src/foundation/contracts/history.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { TriggerKind } from "../../../streams/vocabulary.ts";
import { claimed, cronItem, manualItem, succeeded, tempStore, wholeHistory } from "./support.ts";

interface Sample {
  readonly agent: string | null;
  readonly kind: TriggerKind;
  readonly outcome: Outcome;
  readonly at: number;
}

const samples: readonly Sample[] = Array.from({ length: 60 }, (_, i) => ({
  agent: [null, "dev", "ops"][i % 3] ?? null,
  kind: (["webhook", "cron"] as const)[i % 2] ?? "cron",
  outcome: (["skipped", "dropped", "missed", "rejected"] as const)[i % 4] ?? "skipped",
  // Five entries share each moment, three moments a bucket, and some buckets are empty.
  at: momentOf(Math.floor(i / 5)),
}));

function momentOf(n: number): number {
  return 1_000 + Math.floor(n / 3) * 3 * bucketMs + (n % 3);
}

const rest = { source: null, event: null, action: null, receiptId: null, reason: "r" };

async function filled(): Promise<Store> {
  const store = tempStore();
  await Promise.all(
    samples.map((sample, i) => store.work.deadLetter({ ...sample, ...rest, id: `e${i}` })),
  );
  await store.work.enqueue([manualItem("waits", "dev", momentOf(20))]);
  return store;
}

const ids = (page: HistoryPage): string[] => page.triggers.map(({ id }) => id);

function walk(store: Store, query: HistoryQuery): string[] {
  const seen: string[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const page = store.history.query({ ...query, ...(before === undefined ? {} : { before }) });
    seen.push(...ids(page));
    before = page.nextBefore;
  }
  return seen;
}

test("history entries come newest first", async () => {
  const store = await filled();
  const newest = samples.map((_, i) => `e${i}`).reverse();
  expect(ids(store.history.query(wholeHistory))).toEqual(["waits", ...newest]);
});

test("a history cursor keeps its place while entries arrive", async () => {
  const store = await filled();
  const first = store.history.query({ page: 1, limit: 10 });
  await store.work.enqueue([manualItem("newer", "dev", momentOf(21))]);
  const second = store.history.query({ page: 1, limit: 10, before: first.nextBefore ?? "" });
  expect(ids(second)[0]).toBe("e50");
  expect(second.total).toBe(62);
});

test("every combination of history filters returns exactly the entries that meet it and their number, by page and by cursor", async () => {
  const store = await filled();
  const all = store.history.query(wholeHistory).triggers;
  for (const filter of everyFilter()) {
    const query = { page: 1, limit: 7, ...filter } as HistoryQuery;
    const expected = all.filter((entry) => matches(entry, query)).map(({ id }) => id);
    expect(walk(store, query), JSON.stringify(query)).toEqual(expected);
    const pages = Array.from({ length: Math.ceil(expected.length / 7) + 1 }, (_, i) =>
      store.history.query({ ...query, page: i + 1 }),
    );
    expect(pages.flatMap(ids), JSON.stringify(query)).toEqual(expected);
    expect(pages[0]?.total).toBe(expected.length);
  }
});

/** Each field left out or given, in every combination. */
function everyFilter(): readonly Readonly<Record<string, unknown>>[] {
  const options = {
    agent: ["dev", "nobody", "*", ""],
    kind: ["webhook", "manual"],
    outcome: ["dropped", "succeeded"],
    deadLetter: [true, false],
    refused: [true],
    since: [momentOf(4), 2 * bucketMs, 30 * bucketMs].map((at) => new Date(at).toISOString()),
  };
  return Object.entries(options).reduce<Readonly<Record<string, unknown>>[]>(
    (all, [field, values]) =>
      all.flatMap((one) => [one, ...values.map((value) => ({ ...one, [field]: value }))]),
    [{}],
  );
}

function matches(entry: HistoryPage["triggers"][number], query: HistoryQuery): boolean {
  const { agent, kind, outcome, deadLetter, refused, since } = query;
  return (
    (agent === undefined || entry.agent === agent) &&
    (kind === undefined || entry.kind === kind) &&
    (outcome === undefined || entry.outcome === outcome) &&
    (deadLetter === undefined || entry.deadLetter === deadLetter) &&
    // The one that waits may run yet.
    (refused === undefined || entry.outcome !== null) &&
    (since === undefined || entry.at >= since)
  );
}

test("the history's totals follow changes and deletions of entries", async () => {
  const store = await filled();
  const item = manualItem("waits", "dev", momentOf(20));
  const total = (query: object) => store.history.query({ page: 1, limit: 1, ...query }).total;
  expect([total({ outcome: "dropped" }), total({ kind: "manual" })]).toEqual([15, 1]);
  await store.work.refuse(item, "dropped", "queue_full", true);
  expect([total({ outcome: "dropped" }), total({ kind: "manual", deadLetter: true })]).toEqual([
    16, 1,
  ]);
  await store.prune({ now: momentOf(10) + 86_400_000, days: 1, maxBytes: 1e9 });
  expect(total({})).toBe(11);
  expect(total({})).toBe(ids(store.history.query(wholeHistory)).length);
});

test.each(["", "1-", "' OR 1=1"])("the history rejects the cursor %j", (before) => {
  const store = tempStore();
  expect(() => store.history.query({ ...wholeHistory, before })).toThrow(
    expect.objectContaining({ code: "bad_cursor" }),
  );
});

test("the history finds agents by a part of a name in any case, and one agent by its whole name", async () => {
  const store = tempStore();
  const many = Array.from({ length: 30 }, (_, i) => `a${i}-x`);
  const names = ["sync-web", "sync", "report-data", ...many, null];
  const kinds = { kind: "cron", outcome: "missed" } as const;
  await Promise.all(
    names.map((agent, at) =>
      store.work.deadLetter({ ...rest, ...kinds, agent, at: 1_000 + at, id: agent ?? "none" }),
    ),
  );
  const found = (query: Partial<HistoryQuery>) => {
    const page = store.history.query({ ...wholeHistory, ...query });
    expect(page.total).toBe(page.triggers.length);
    return ids(page).toSorted();
  };
  expect(found({ agentPart: "DATA" })).toEqual(["report-data"]);
  expect(found({ agentPart: "sync-" })).toEqual(["sync-web"]);
  expect(found({ agentPart: "sync" })).toEqual(["sync"]);
  expect(found({ agentPart: "none" })).toEqual([]);
  // More agents than are looked up one by one.
  expect(found({ agentPart: "-x" })).toHaveLength(30);
  expect(found({ agentPart: "-x", outcome: "dropped" })).toEqual([]);
});

test("a history entry is found by its id, whatever the other filters", async () => {
  const store = await filled();
  expect(ids(store.history.query({ ...wholeHistory, id: "e7", agent: "nobody" }))).toEqual(["e7"]);
  expect(store.history.query({ ...wholeHistory, id: "gone" })).toMatchObject({ total: 0 });
});

test("the latest runs of an agent are the last twenty that ended, however its work is spread over time", async () => {
  const store = tempStore();
  const ends = ["succeeded", "failed"] as const;
  for (let n = 0; n < 30; n += 1) {
    const item = (n % 2 === 0 ? cronItem : manualItem)(`a${n}`, "dev", momentOf(n));
    const instanceId = `dev-${n}`;
    await claimed(store, item, instanceId);
    const outcome = ends[n % 2] ?? "failed";
    const end = { ...succeeded, outcome };
    await store.work.end(item, { instanceId, startedAt: item.at, end });
  }
  const skipped = { agent: "dev", kind: "cron", outcome: "skipped", at: momentOf(40) } as const;
  await store.work.deadLetter({ ...skipped, ...rest, id: "skipped" });
  await claimed(store, cronItem("runs", "dev", momentOf(41)), "dev-runs");
  for (let n = 0; n < 20; n++) {
    await store.work.refuse(cronItem(`s${n}`, "dev", momentOf(42)), "superseded", "newer", false);
  }
  const [dev, cat] = store.history.latestRuns(["dev", "cat"]);
  expect(dev?.runs.map(({ instanceId, outcome }) => `${instanceId} ${outcome}`)).toEqual(
    Array.from({ length: 20 }, (_, n) => `dev-${n + 10} ${ends[n % 2] ?? ""}`),
  );
  expect(cat).toEqual({ name: "cat", runs: [] });
});

test("the hourly runs count those that ended by hour and end, without refused work", async () => {
  const hour = 3_600_000;
  const store = tempStore();
  const now = 30 * hour + 1;
  const refused = { agent: "dev", kind: "cron", outcome: "skipped", at: now, ...rest } as const;
  await store.work.deadLetter({ ...refused, id: "skipped" });
  await store.work.refuse(cronItem("replaced", "dev", now), "superseded", "newer", false);
  for (const [id, outcome, at] of [
    ["old", "failed", 6 * hour],
    ["a", "succeeded", 7 * hour],
    ["b", "succeeded", now - 1],
    ["c", "timed_out", now],
    ["d", "killed", now + 2 * hour],
  ] as const) {
    const item = cronItem(id, "dev", at);
    await claimed(store, item, `dev-${id}`);
    const end = { ...succeeded, outcome };
    await store.work.end(item, { instanceId: `dev-${id}`, startedAt: at, end });
  }
  const counts = store.history.hourlyRuns(24, now);
  expect(counts).toHaveLength(24);
  expect(counts[0]).toEqual({ at: "1970-01-01T07:00:00.000Z", succeeded: 1, failed: 0, other: 0 });
  expect(counts[23]).toEqual({ at: "1970-01-02T06:00:00.000Z", succeeded: 1, failed: 1, other: 1 });
});
