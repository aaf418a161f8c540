import {
  createRefusedDeliveries,
  createUnmatchedReceipts,
} from "../../../src/features/webhooks/refused-deliveries.ts";
import { randomUUID } from "node:crypto";
import { newRecord } from "../../../streams/status/agent-record.ts";
import { whyNot, whyNotNow } from "../../../src/runtime/runs/why-not.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { anAgent } from "../../helpers/agents.ts";
import { manualItem, tempStore } from "../../foundation/store/support.ts";

const redactor = createRedactor();
const hub = { source: "hub", type: "github", filters: { repos: ["acme/x"] } } as const;
const agent = { ...newRecord("dev"), config: anAgent("dev", { webhooks: [hub] }) };
const idle = { paused: false, held: null, missed: 0, running: 0, scale: null, locks: [] };
const calendars = {};
const minute = (n: number) => n * 60_000;

interface Delivered {
  readonly repo?: string;
  readonly at: number;
  readonly source?: string;
  readonly disabled?: string;
  readonly bytes?: number;
}

async function deliver(store: Store, { repo = "acme/y", at, ...rest }: Delivered): Promise<string> {
  const { source = "hub", disabled, bytes = 0 } = rest;
  const id = randomUUID();
  const payload = { action: "opened", repository: { full_name: repo }, pad: "x".repeat(bytes) };
  const entry = {
    kind: "webhook",
    outcome: "rejected",
    event: "issues",
    action: "opened",
  } as const;
  const letter = {
    ...entry,
    id: randomUUID(),
    at,
    source,
    receiptId: id,
    reason: "agent disabled",
  };
  await store.receipts.accept({
    receipt: {
      id,
      at,
      source,
      type: "github",
      deliveryId: null,
      matched: [],
      reason: null,
      headers: { "x-github-event": "issues" },
      body: Buffer.from(JSON.stringify(payload)),
    },
    items: [],
    taken: [],
    deadLetters: disabled === undefined ? [] : [{ ...letter, agent: disabled }],
  });
  return id;
}

test("whyNot lists deliveries that an agent's filters reject, with the filter", async () => {
  const store = tempStore();
  await deliver(store, { at: minute(1), source: "other" });
  const first = await deliver(store, { at: minute(2) });
  await deliver(store, { at: minute(3), disabled: "dev" });
  const second = await deliver(store, { at: minute(4), repo: "acme/x" });
  const third = await deliver(store, { at: minute(5), disabled: "ops" });
  const answer = await whyNot(
    agent,
    [],
    { limit: 50 },
    { store, redactor, calendars, sources: {} },
  );
  const mismatch = { condition: "repos", wanted: "acme/x", got: "acme/y" };
  const of = { source: "hub", event: "issues", action: "opened" };
  const at = (n: number) => new Date(minute(n)).toISOString();
  expect(answer.turnedAway).toEqual([
    { ...of, receiptId: third, at: at(5), stoppedBy: [[mismatch]] },
    // It came before the filter was what it is now.
    { ...of, receiptId: second, at: at(4), stoppedBy: [] },
    { ...of, receiptId: first, at: at(2), stoppedBy: [[mismatch]] },
  ]);
  expect(answer.refused).toMatchObject([{ outcome: "rejected", reason: "agent disabled" }]);
  expect(answer.lookedBackTo).toBe(null);
  const since = await whyNot(
    agent,
    [],
    { limit: 50, since: at(4) },
    { store, redactor, calendars, sources: {} },
  );
  expect(since.turnedAway).toHaveLength(2);
});

test("whyNot names the calendar that left out the agent's scheduled runs", async () => {
  const always = { spans: [], windows: [{ from: 0, until: 7 * 86_400_000, text: "all week" }] };
  const entry = {
    name: "nightly",
    expression: "0 3 * * *",
    timezone: "UTC",
    prompt: null,
    params: {},
  };
  const schedules = [{ ...entry, calendar: { skip: ["frozen"], only: [] } }];
  const store = tempStore();
  const of = { name: "dev", config: anAgent("dev", { schedules }) };
  const { now } = await whyNot(
    of,
    ["Busy."],
    { limit: 5 },
    { store, redactor, calendars: { frozen: always }, sources: {} },
  );
  expect(now).toEqual([
    "Busy.",
    expect.stringMatching(
      /^Schedule nightly: .* scheduled runs? from .* left out by calendar frozen: all week\.$/,
    ),
  ]);
});

test("whyNot returns parts of payloads without secrets", async () => {
  const store = tempStore();
  await deliver(store, { at: minute(1), repo: "acme-hush" });
  const safe = createRedactor();
  safe.add(["acme-hush"]);
  const { turnedAway } = await whyNot(
    agent,
    [],
    { limit: 5 },
    { store, redactor: safe, calendars, sources: {} },
  );
  expect(turnedAway[0]?.stoppedBy[0]?.[0]?.got).toBe("[redacted]");
});

test("whyNot returns how far it looked back if deliveries are too many or too large", async () => {
  const store = tempStore();
  for (let n = 1; n <= 5; n += 1) await deliver(store, { at: minute(n) });
  const few = await whyNot(agent, [], { limit: 2 }, { store, redactor, calendars, sources: {} });
  expect(few.turnedAway).toHaveLength(2);
  expect(few.lookedBackTo).toBe(new Date(minute(3)).toISOString());
  await deliver(store, { at: minute(6), bytes: 9 * 1024 * 1024 });
  const large = await whyNot(agent, [], { limit: 50 }, { store, redactor, calendars, sources: {} });
  expect(large).toMatchObject({ turnedAway: [], lookedBackTo: new Date(minute(6)).toISOString() });
});

test("whyNot lists skipped, missed and dropped work, and refused deliveries of its sources", async () => {
  const store = tempStore();
  const item = manualItem("one", "dev", minute(1));
  await store.work.enqueue([item]);
  await store.work.refuse(item, "dropped", "queue_full", true);
  for (const source of ["hub", "other"]) {
    store
      .tables(createRefusedDeliveries)
      .add({ type: "github", source, result: "unverified", reason: "wrong" });
  }
  await store.tables(createRefusedDeliveries).flush();
  const answer = await whyNot(
    agent,
    ["It is disabled."],
    { limit: 50 },
    { store, redactor, calendars, sources: {} },
  );
  expect(answer).toMatchObject({
    now: ["It is disabled."],
    refused: [{ outcome: "dropped", reason: "queue_full" }],
    refusedDeliveries: [{ source: "hub", count: 1 }],
  });
  const broken = { name: "dev", config: null };
  const without = await whyNot(
    broken,
    [],
    { limit: 50 },
    { store, redactor, calendars, sources: {} },
  );
  expect(without).toMatchObject({ refused: [{}], turnedAway: [], refusedDeliveries: [] });
});

test("an agent's unmatched deliveries are found without reading their bodies", async () => {
  const store = tempStore();
  for (let n = 0; n < 100; n++) {
    await deliver(store, { at: minute(n), source: "other", bytes: 1024 * 1024 });
  }
  const asked = { sources: ["hub"], since: 0, limit: 50 };
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    expect(store.tables(createUnmatchedReceipts).of("dev", asked)).toEqual([]);
    return performance.now() - startedAt;
  });
  expect(Math.min(...times)).toBeLessThan(5);
});

const lock = { resource: "repo:x", since: "", expiresAt: null };
const locks = [
  { ...lock, agent: "dev", instanceId: "dev-1", held: false },
  { ...lock, agent: "ops", instanceId: "ops-1", held: true },
];
const usedBudget = {
  scope: "agent:dev",
  window: "2026-11-22",
  endsAt: minute(1),
  usd: 2,
  limit: 1.5,
  onLimit: "pause",
};

const concurrency = { key: "{number}", limit: 1, onNew: "wait" } as const;
const session = { key: "{number}", keepMs: 1, maxTokens: null, whileRunning: "wait" } as const;

test.each<[what: string, agent: object, project: object, reasons: RegExp[]]>([
  ["nothing that prevents runs", {}, {}, []],
  ["a broken config", { config: null, configError: "1: bad" }, {}, [/^No valid config: 1: bad/]],
  ["a disabled agent", { enabled: false, queued: 2 }, {}, [/al resume dev/, /2 work items queued/]],
  [
    "a paused scheduler and used slots",
    { config: anAgent("dev", { schedule: "0 9 * * *" }), running: 1 },
    { paused: true, scale: 1, running: 1 },
    [/^Schedules are paused/, /1 of 1 runs/, /limit reached \(1 run\)/],
  ],
  [
    "a busy key",
    { config: anAgent("dev", { concurrency, scale: 2 }), running: 1, queued: 1 },
    {},
    [
      /^1 work item queued/,
      /^Queued work may wait for its key "\{number\}": 1 run of a key at once/,
    ],
  ],
  [
    "a busy session key",
    { config: anAgent("dev", { session, scale: 2 }), running: 1, queued: 1 },
    {},
    [
      /^1 work item queued/,
      /^Queued work may wait for its session key "\{number\}": 1 run of a key at once/,
    ],
  ],
  ["paused work", { queued: 2 }, { held: 3 }, [/3 work items queued/, /^2 work items queued/]],
  [
    "a used budget",
    { usedBudget },
    {},
    [/^Daily budget used up: \$2.00 of \$1.50 spent. New work is queued until/],
  ],
  ["missed runs", {}, { missed: 3 }, [/^3 missed runs to start, one after another/]],
  ["questions", { questions: new Map([["q", "dev-1"]]) }, {}, [/1 open question/]],
  ["a lock", {}, { locks }, [/^dev-1 waits for the lock repo:x, held by ops-1/]],
])(
  "whyNotNow lists reasons in the order in which to fix them: %s",
  (_what, change, project, reasons) => {
    const found = whyNotNow({ ...agent, ...change }, { ...idle, ...project });
    expect(found).toEqual(reasons.map((reason) => expect.stringMatching(reason) as string));
  },
);
