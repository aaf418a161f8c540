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
