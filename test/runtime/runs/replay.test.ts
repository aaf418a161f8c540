import { openStore } from "../../../src/features/open-store.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Receipt } from "../../../src/foundation/store/receipts.ts";
import { createFirstEvents, type FirstEvent } from "../../../src/runtime/runs/first-events.ts";
import { replay, type ReplayDeps } from "../../../src/runtime/runs/replay.ts";
import { newRecord } from "../../../streams/status/agent-record.ts";
import type { WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";

const receipt: Receipt = {
  id: "0193a1b2-0000-7000-8000-000000000001",
  at: 1_000,
  source: "gh",
  type: "github",
  deliveryId: "d1",
  headers: { "x-github-event": "issues" },
  body: Buffer.from("{}"),
  matched: [],
  reason: null,
};
const event = {
  source: "gh",
  type: "github",
  event: "issues",
  action: "opened",
  receiptId: receipt.id,
} as WebhookEvent;

/** What the streams would answer: `dev` starts, everybody else waits. */
function firstOf(item: WorkItem): FirstEvent {
  const base = { agent: item.agent, at: item.at, item };
  if (item.agent !== "dev") return { type: "queued", ...base };
  return { type: "started", instanceId: "dev-abcdefgh", ...base };
}

type Result = NonNullable<ReturnType<ReplayDeps["readAgain"]>>["result"];

async function setUp(result: Partial<Result>, change: Partial<ReplayDeps> = {}) {
  const dir = mkdtempSync(join(tmpdir(), "al-replay-"));
  const store = openStore(dir);
  onTestFinished(() => {
    store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await store.receipts.accept({ receipt, items: [], taken: [], deadLetters: [] });
  const firstEvents = createFirstEvents(() => false);
  const dispatched: WorkItem[] = [];
  const deps: ReplayDeps = {
    status: {
      agent: (name) =>
        name === "nobody" ? undefined : { ...newRecord(name), config: anAgent(name) },
    },
    stopping: { phase: () => "running" },
    store,
    firstEvents,
    readAgain: () => ({
      event,
      identity: {},
      result: { matched: [], disabled: [], reason: null, examined: 0, ...result },
    }),
    dispatch: (items) => {
      // Committed before it is handed on: a crash now loses nothing.
      const waiting = store.history.query({ page: 1, limit: 50 }).triggers;
      expect(waiting.map(({ id }) => id)).toEqual(
        expect.arrayContaining(items.map(({ id }) => id)),
      );
      dispatched.push(...items);
      for (const item of items) firstEvents.see(firstOf(item));
    },
    ...change,
  };
  const history = () => store.history.query({ page: 1, limit: 50 }).triggers;
  return { deps, store, dispatched, history };
}

test("all matching agents get new work, committed first, and are returned with its state", async () => {
  const { deps, dispatched } = await setUp({ matched: ["dev", "ops"] });
  const answer = await replay(receipt.id, null, deps);
  const [dev, ops] = dispatched;
  expect(answer).toEqual({
    receiptId: receipt.id,
    replayId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    matched: [
      {
        agent: "dev",
        outcome: "started",
        instanceId: "dev-abcdefgh",
        triggerId: dev?.id,
        replayOf: null,
      },
      { agent: "ops", outcome: "queued", triggerId: ops?.id, replayOf: null },
    ],
    reason: null,
  });
  expect(dev?.trigger).toEqual({ kind: "webhook", event });
});

test("a replay names the history entry of the agent's first work", async () => {
  const { deps, store, history } = await setUp({ matched: ["dev"] });
  const id = "0193a1b2-0000-7000-8000-000000000002";
  const trigger = { kind: "webhook", event: { ...event, receiptId: id } } as const;
  const items = ["ops", "dev"].map((agent): WorkItem => {
    return { id: `first-${agent}`, agent, at: receipt.at, attempt: 1, trigger };
  });
  const delivered = { ...receipt, id, deliveryId: "d2" };
  await store.receipts.accept({ receipt: delivered, items, taken: [], deadLetters: [] });
  const { matched } = await replay(id, null, deps);
  expect(matched).toMatchObject([{ agent: "dev", replayOf: "first-dev" }]);
  expect(history().map(({ replayOf }) => replayOf)).toContain("first-dev");
});

test("a replay for one agent ignores its filters", async () => {
  const { deps, dispatched } = await setUp({ matched: ["dev"], reason: null });
  await replay(receipt.id, "ops", deps);
  expect(dispatched.map(({ agent }) => agent)).toEqual(["ops"]);
});

test("a disabled agent that matches gets a dead letter, as for a delivery", async () => {
  const { deps, dispatched, history } = await setUp({ disabled: ["dev"], reason: "no match" });
  const { matched, reason } = await replay(receipt.id, null, deps);
  expect(reason).toBe("no match");
  expect(matched).toMatchObject([{ agent: "dev", outcome: "rejected", reason: "agent disabled" }]);
  expect(dispatched).toEqual([]);
  expect(history()).toMatchObject([
    { id: matched[0]?.triggerId, agent: "dev", deadLetter: true, receiptId: receipt.id },
  ]);
});

test.each<[string, string, string | null, Partial<ReplayDeps>]>([
  ["unknown_receipt", "0193a1b2-0000-7000-8000-00000000dead", null, {}],
  ["unknown_agent", receipt.id, "nobody", {}],
  ["unreadable_receipt", receipt.id, null, { readAgain: () => null }],
  ["draining", receipt.id, null, { stopping: { phase: () => "draining" } }],
])("a replay is rejected with %s", async (code, id, agent, change) => {
  const { deps, dispatched } = await setUp({ matched: ["dev"] }, change);
  await expect(replay(id, agent, deps)).rejects.toMatchObject({ name: "Problem", code });
  expect(dispatched).toEqual([]);
});
