import { interpretStored } from "../../../src/features/webhooks/interpret.ts";
import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { replayUnmatched } from "../../../src/runtime/runs/replay-unmatched.ts";
import { newRecord } from "../../../streams/status/agent-record.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { bytes } from "../../features/webhooks/deliveries.ts";
import { TestReceiver, source, start } from "../../features/webhooks/test-receiver.ts";
import { requestFor } from "../../foundation/store/support.ts";
import { anAgent } from "../../helpers/agents.ts";

const since = new Date(start).toISOString();
const event = { type: "message", channel: "C1", text: "deploy" };

/** A receiver without agents, with a source of GitHub and one of Slack, and the replay of its deliveries. */
function setUp(queueSize = 100) {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub"), source("chat", { type: "slack" })];
  receiver.secrets.set("chat", ["hush"]);
  const dispatched: WorkItem[] = [];
  const replay = (more: { readonly dryRun?: true; readonly after?: string } = {}) =>
    replayUnmatched(
      { since, ...more },
      {
        status: {
          agent: (name) => ({ ...newRecord(name), config: anAgent(name, { queueSize }) }),
        },
        stopping: { phase: () => "running" },
        store: receiver.store,
        dispatch: (items) => dispatched.push(...items),
        readAgain: (receipt) => {
          const read = interpretStored(receipt, {});
          return read && { ...read, result: receiver.index.match(receipt.source, read) };
        },
      },
    );
  /** Delivers a message; each has another body. */
  const message = (payload: object) => {
    const body = bytes({ type: "event_callback", ...payload });
    const headers = signDelivery("slack", "hush", body, receiver.now);
    return receiver.receive({ type: "slack", source: null, headers, body });
  };
  const receipts = () =>
    dispatched.map(({ trigger }) => "event" in trigger && trigger.event.receiptId);
  return { receiver, dispatched, replay, message, receipts };
}

test("unmatched deliveries start the agents that match them now, the earliest first and each once", async () => {
  const { receiver, replay, dispatched, receipts } = setUp();
  for (const id of ["d1", "d2"]) await receiver.deliver({ id });
  receiver.now = start - 1;
  await receiver.deliver({ id: "before" });
  const [first, second] = receiver.accepted.map(({ receipt }) => receipt.id);
  receiver.listen("dev");
  receiver.listen("ops", { events: ["push"] });
  const expected = [first, second].map((receiptId) => ({ receiptId, agents: ["dev"] }));
  expect(await replay({ dryRun: true })).toMatchObject({ deliveries: expected, next: null });
  expect(dispatched).toEqual([]);
  const [one, two] = await Promise.all([replay(), replay()]);
  expect([...one.deliveries, ...two.deliveries]).toHaveLength(2);
  expect(receipts().sort()).toEqual([first, second]);
  expect(await replay()).toEqual({ deliveries: [], next: null, fullQueue: null });
  expect(receiver.store.receipts.get(first ?? "")).toMatchObject({
    matched: ["dev"],
    reason: null,
  });
  const letter = receiver.accepted[0]?.deadLetters[0]?.id;
  expect(dispatched.map(({ replayOf }) => replayOf)).toContain(letter);
});

test("an unmatched delivery that was delivered again or replayed before starts no run", async () => {
  const { receiver, replay, dispatched } = setUp();
  for (const id of ["d1", "d2"]) await receiver.deliver({ id });
  receiver.listen("dev");
  await receiver.deliver({ id: "d1" });
  expect(await replay()).toMatchObject({ deliveries: [{ agents: ["dev"] }] });
  expect(dispatched).toHaveLength(1);
  expect(await receiver.deliver({ id: "d2" })).toMatchObject({ body: { duplicate: true } });
});

test("an unmatched message starts no agent that had it as a mention", async () => {
  const { receiver, replay, message, dispatched } = setUp();
  const listen = (name: string, filters: Record<string, readonly string[]>) =>
    receiver.index.set(
      { name, scale: 1, webhooks: [{ source: "chat", type: "slack", filters }] },
      true,
    );
  listen("dev", { events: ["app_mention"] });
  await message({ event_id: "Ev1", event: { ...event, ts: "1.1" } });
  await message({ event_id: "Ev2", event: { ...event, type: "app_mention", ts: "1.1" } });
  await message({ event_id: "Ev3", event: { ...event, ts: "2.1" } });
  for (const name of ["dev", "ops"]) listen(name, {});
  const { deliveries } = await replay();
  expect(deliveries.map(({ agents }) => agents)).toEqual([["ops"], ["dev", "ops"]]);
  expect(dispatched).toHaveLength(3);
});

test("a replay of unmatched deliveries fills half of a queue, and continues where it stopped", async () => {
  const { receiver, replay, dispatched, receipts } = setUp(4);
  for (const id of ["d1", "d2", "d3"]) await receiver.deliver({ id });
  receiver.listen("dev");
  const first = await replay();
  expect(first).toMatchObject({ fullQueue: "dev", next: receipts()[1] });
  expect(first.deliveries).toHaveLength(2);
  const from = first.next === null ? {} : { after: first.next };
  expect(await replay(from)).toEqual({ ...first, deliveries: [] });
  for (const item of dispatched) await receiver.store.work.claim(requestFor(item, item.id));
  expect(await replay(from)).toMatchObject({ deliveries: [{ agents: ["dev"] }], next: null });
});
