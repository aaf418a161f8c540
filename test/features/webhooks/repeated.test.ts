import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { bytes } from "./deliveries.ts";
import { TestReceiver, source, start } from "./test-receiver.ts";

/** A receiver with a source `hub` of this type, for the agent dev. */
function receiving(type: string): TestReceiver {
  const receiver = new TestReceiver("dev");
  receiver.sources = [source("hub", { type })];
  return receiver;
}

const signedBy = (type: string, body: Buffer, at: number, id?: string) => ({
  type,
  source: null,
  body,
  headers: signDelivery(type, "hush", body, at, id === undefined ? {} : { id }),
});

test("Linear's retries of a webhook start one run, even hours later or with a forged id", async () => {
  const receiver = receiving("linear");
  const body = bytes({ type: "Issue", action: "update", webhookTimestamp: start });
  const retry = (id: string) => receiver.receive(signedBy("linear", body, start, id));
  for (const [hours, id] of [
    [1, "d1"],
    [6, "forged"],
  ] as const) {
    receiver.now = start + hours * 3_600_000;
    const answers = await Promise.all(["d1", id].map(retry));
    expect(answers).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(receiver.dispatched).toHaveLength(1);
  }
  receiver.now = start + 8 * 3_600_000;
  expect(await retry("d1")).toMatchObject({ error: "bad_signature" });
});

test.each([
  ["an event", { type: "event_callback", event_id: "Ev1", event: { type: "app_mention" } }],
  ["a payload without an id", { type: "view_closed", view: { id: "V1" } }],
])(
  "Slack's retry of %s starts one run, whether or not the first try arrived",
  async (_what, payload) => {
    const receiver = receiving("slack");
    const body = bytes(payload);
    await Promise.all([start, start].map((at) => receiver.receive(signedBy("slack", body, at))));
    receiver.now = start + 360_000;
    const late = await receiver.receive(signedBy("slack", body, receiver.now));
    expect(late).toMatchObject({ body: { duplicate: true } });
    expect(receiver.dispatched).toHaveLength(1);
  },
);

/** The events that Slack sends of one message, in any order, one of them twice. */
const ofMessage = ["message", "app_mention", "message"].map((type, index) => ({
  event_id: `Ev${index}`,
  event: { type, channel: "C1", ts: "1733000000.000100", client_msg_id: "m1" },
}));

test("a Slack message starts each agent once although it comes as several events, also after a restart", async () => {
  const receiver = receiving("slack");
  const listen = (name: string, events: readonly string[]) => {
    const webhooks = [{ source: "hub", type: "slack", filters: { events } }];
    receiver.index.set({ name, scale: 1, webhooks }, true);
  };
  listen("ops", ["app_mention"]);
  const send = (payload: object) =>
    receiver.receive(signedBy("slack", bytes(payload), receiver.now));
  const [first, second] = await Promise.all(ofMessage.map(send));
  expect(first).toMatchObject({ body: { matched: [{ agent: "dev" }] } });
  expect(second).toMatchObject({ body: { matched: [{ agent: "ops" }] } });
  receiver.restart();
  for (const [index, payload] of ofMessage.entries()) {
    const again = { ...payload, event_id: `Ev-again-${index}` };
    expect(await send(again)).toMatchObject({ body: { duplicate: true } });
  }
  expect(receiver.dispatched.map(({ agent }) => agent)).toEqual(["dev", "ops"]);
  const [event] = ofMessage.map((one) => one.event);
  await send({ event_id: "Ev3", event: { ...event, ts: "1733000001.000100" } });
  await send({ event_id: "Ev4", event: { ...event, channel: "C2" } });
  expect(receiver.dispatched).toHaveLength(4);
});

test("a Stripe event whose retry has another body starts one run", async () => {
  const receiver = receiving("stripe");
  const retry = (pending: number, id = "evt_1") => {
    const body = bytes({ id, object: "event", type: "invoice.paid", pending_webhooks: pending });
    return receiver.receive(signedBy("stripe", body, start));
  };
  await retry(2);
  expect(await retry(1)).toMatchObject({ status: 200, body: { duplicate: true } });
  await retry(2, "evt_2");
  expect(receiver.dispatched).toHaveLength(2);
});

test("a Slack notice of a rate limit is not an event and warns the operator", async () => {
  const receiver = receiving("slack");
  const body = bytes({ type: "app_rate_limited", team_id: "T1", minute_rate_limited: 1518467820 });
  expect(await receiver.receive(signedBy("slack", body, start))).toEqual({ status: 200, body: {} });
  expect(receiver.accepted).toEqual([]);
  expect(receiver.warned).toEqual([expect.stringContaining("webhook hub: Slack does not send")]);
});
