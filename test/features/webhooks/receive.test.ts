import { interpretStored } from "../../../src/features/webhooks/interpret.ts";
import { bytes } from "./deliveries.ts";
import { TestReceiver, github, issue, source, start } from "./test-receiver.ts";

test("a verified webhook delivery is stored before it starts agents, and the response names them", async () => {
  const receiver = new TestReceiver("dev");
  receiver.listen("ops", { events: ["push"] });
  const answer = await receiver.deliver();
  expect(answer).toEqual({ status: 200, body: { receiptId: "id-1", matched: [{ agent: "dev" }] } });
  expect(receiver.happened).toEqual(["secrets of hub", "match", "accept", "committed", "dispatch"]);
  expect(receiver.dispatched).toMatchObject([
    {
      agent: "dev",
      at: start,
      attempt: 1,
      trigger: { kind: "webhook", event: { event: "issues", receiptId: "id-1" } },
    },
  ]);
  expect(receiver.counted).toEqual([{ type: "github", source: "hub", result: "accepted" }]);
});

test("the receipt of a verified webhook delivery stores the unchanged bytes, and headers without the signature", async () => {
  const receiver = new TestReceiver();
  await receiver.deliver();
  expect(receiver.accepted[0]?.receipt).toEqual({
    id: "id-1",
    at: start,
    type: "github",
    source: "hub",
    deliveryId: "d1",
    matched: [],
    reason: "no agent listens to source hub",
    body: issue,
    headers: {
      "content-type": "application/json",
      "x-github-event": "issues",
      "x-github-delivery": "d1",
    },
  });
});

test("reading a verified webhook delivery again from its receipt has the same result", async () => {
  const receiver = new TestReceiver("dev");
  await receiver.deliver();
  const receipt = receiver.accepted[0]?.receipt;
  if (receipt === undefined) throw new Error("no receipt");
  const again = interpretStored(receipt, {});
  expect(receiver.dispatched[0]?.trigger).toEqual({ kind: "webhook", event: again?.event });
  expect(again && receiver.index.match("hub", again).matched).toEqual(["dev"]);
});

const [trace, span] = ["a".repeat(32), "b".repeat(16)];
test.each([
  [`00-${trace}-${span}-01`, { traceId: trace, spanId: span }],
  [`00-${"0".repeat(32)}-${span}-01`, undefined],
  ["x\u001b", undefined],
])(
  "a verified webhook delivery with the traceparent %j starts runs with the parent span %j",
  async (traceparent, sender) => {
    const receiver = new TestReceiver("dev");
    const delivery = github();
    await receiver.receive({ ...delivery, headers: { ...delivery.headers, traceparent } });
    expect(receiver.dispatched).toHaveLength(1);
    expect(receiver.dispatched[0]?.trigger).toMatchObject({
      kind: "webhook",
      ...(sender && { sender }),
    });
    expect("sender" in (receiver.dispatched[0]?.trigger ?? {})).toBe(sender !== undefined);
  },
);

test("a verified webhook delivery that is repeated starts no agent, and gets the first receipt as its response", async () => {
  const receiver = new TestReceiver("dev");
  await receiver.deliver();
  const again = await receiver.deliver();
  expect(again).toEqual({ status: 200, body: { receiptId: "id-1", duplicate: true } });
  expect(receiver.dispatched).toHaveLength(1);
  await receiver.deliver({ body: bytes({ action: "closed" }) });
  expect(receiver.dispatched).toHaveLength(2);
});

test("a verified webhook delivery that matches no agent is stored as one dead letter that names the closest filter", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev", { repos: ["acme/x"] });
  const answer = await receiver.deliver();
  expect(answer).toEqual({ status: 200, body: { receiptId: "id-1", matched: [] } });
  const reason = "agent dev: repos does not include Codertocat/Hello-World";
  expect(receiver.accepted[0]).toMatchObject({
    receipt: { matched: [], reason },
    items: [],
    deadLetters: [
      {
        kind: "webhook",
        outcome: "rejected",
        agent: null,
        source: "hub",
        event: "issues",
        receiptId: "id-1",
        reason,
      },
    ],
  });
  expect(receiver.happened).not.toContain("dispatch");
  expect(receiver.counted[0]?.result).toBe("unmatched");
});

test("a verified webhook delivery is a dead letter of a disabled agent, and starts the other agents", async () => {
  const receiver = new TestReceiver("dev", "off");
  receiver.index.setEnabled("off", false);
  await receiver.deliver();
  expect(receiver.accepted[0]).toMatchObject({
    receipt: { matched: ["dev"], reason: "agent disabled: off" },
    items: [{ agent: "dev" }],
    deadLetters: [{ agent: "off", reason: "agent disabled" }],
  });
  receiver.index.setEnabled("dev", false);
  await receiver.deliver({ id: "d2" });
  const deadLetters = [{ agent: "dev" }, { agent: "off" }];
  expect(receiver.accepted[1]).toMatchObject({ items: [], deadLetters });
});

test("a verified webhook delivery gets 503 while the store fails, and is accepted when repeated", async () => {
  const receiver = new TestReceiver("dev");
  receiver.storeFails = true;
  const answer = await receiver.deliver();
  expect(answer).toMatchObject({ status: 503, error: "store_unavailable" });
  expect(receiver.dispatched).toEqual([]);
  expect(receiver.warned).toEqual([expect.stringContaining("disk full")]);
  receiver.storeFails = false;
  await receiver.deliver();
  expect(receiver.dispatched).toHaveLength(1);
});

test("a verified webhook delivery that is only a ping gets a response and is not stored", async () => {
  const receiver = new TestReceiver("dev");
  const body = { pong: true, zen: "Keep it simple." };
  const ping = { event: "ping", body: bytes({ zen: body.zen }) };
  expect(await receiver.deliver(ping)).toEqual({ status: 200, body });
  expect(receiver.accepted).toEqual([]);
  expect(await receiver.deliver({ ...ping, secret: "wrong" })).toMatchObject({ status: 401 });
});

test("an unverified webhook delivery is rejected before its body is parsed, with the same message for every cause", async () => {
  const receiver = new TestReceiver("dev");
  const body = bytes("not json");
  const causes = [{ secret: null }, { secret: "wrong" }, { secret: "wrong", body }];
  const answers = [];
  for (const cause of causes) answers.push(await receiver.deliver(cause));
  expect(answers).toEqual(Array(3).fill(answers[0]));
  expect(answers[0]).toMatchObject({ status: 401, error: "bad_signature" });
  expect(receiver.happened).not.toContain("accept");
  expect(receiver.counted.map(({ result }) => result)).toEqual(Array(3).fill("unverified"));
  expect(receiver.warned).toHaveLength(1);
  // It blocks no later good one with the same id.
  await receiver.deliver();
  expect(receiver.dispatched).toHaveLength(1);
});

test("a correctly signed webhook delivery whose body is not JSON gets 400, and is not stored", async () => {
  const receiver = new TestReceiver();
  const answer = await receiver.deliver({ body: bytes("not json") });
  expect(answer).toMatchObject({ status: 400, error: "malformed" });
  expect(receiver.accepted).toEqual([]);
});

test.each([
  ["an unknown provider type", { type: "gogs" }, "unknown_type"],
  ["the name of a prototype", { type: "__proto__" }, "unknown_type"],
  ["an unknown source", { source: "nobody" }, "unknown_source"],
  ["a source of another type", { source: "tracker" }, "unknown_source"],
  ["a provider type without sources", { type: "sentry" }, "unknown_source"],
])("a webhook delivery to %s gets 404", async (_, more, error) => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub"), source("tracker", { type: "linear" })];
  const answer = await receiver.receive({ ...github(), ...more });
  expect(answer).toMatchObject({ status: 404, error });
  expect(receiver.counted).toMatchObject([{ source: null, result: "not_found" }]);
});

test("a rejected webhook delivery is counted for its source, without any text of the sender", async () => {
  const receiver = new TestReceiver();
  await receiver.deliver({ secret: "wrong" });
  await receiver.deliver({ secret: "wrong", source: "<evil>" });
  await receiver.deliver({ body: bytes("<evil>") });
  await receiver.deliver();
  await receiver.deliver();
  receiver.storeFails = true;
  await receiver.deliver({ id: "d2" });
  await receiver.receive({ ...github(), type: "<evil>" });
  expect(receiver.refused).toMatchObject([
    { source: "hub", result: "unverified" },
    { source: null, result: "not_found" },
    { source: "hub", result: "malformed" },
    {
      source: "hub",
      result: "duplicate",
      reason: expect.stringContaining("receipt id-") as string,
    },
    { source: "hub", result: "unavailable" },
    { source: null, result: "not_found" },
  ]);
  expect(JSON.stringify(receiver.refused)).not.toContain("evil");
});

test("a rejected webhook delivery is counted for no source if several have the same type", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub"), source("other")];
  await receiver.deliver({ secret: "wrong" });
  await receiver.deliver({ secret: "wrong", source: "other" });
  expect(receiver.refused.map((one) => one.source)).toEqual([null, "other"]);
});
