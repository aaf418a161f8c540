import { interpretStored } from "../../../src/features/webhooks/interpret.ts";
import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { bytes, githubExamples } from "./deliveries.ts";
import { TestReceiver, errorOf, github, issue, source, start, statusOf } from "./test-receiver.ts";

test("a verified delivery is committed before it is dispatched, and its answer names the started agents", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  receiver.listen("ops", { events: ["push"] });
  const answer = await receiver.receive(github("hush"));
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

test("a verified delivery leaves a receipt with the bytes as they came and headers without the signature", async () => {
  const receiver = new TestReceiver();
  await receiver.receive(github("hush"));
  const receipt = receiver.accepted[0]?.receipt;
  expect(receipt).toMatchObject({
    id: "id-1",
    source: "hub",
    deliveryId: "d1",
    matched: [],
    reason: "no agent listens to source hub",
  });
  expect(Buffer.compare(receipt?.body ?? bytes(""), issue)).toBe(0);
  expect(receipt?.headers).toEqual({
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": "d1",
  });
});

test("a verified delivery can be read again from its receipt with the same result", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  await receiver.receive(github("hush"));
  const receipt = receiver.accepted[0]?.receipt;
  if (receipt === undefined) throw new Error("no receipt");
  const again = interpretStored(receipt);
  expect(receiver.dispatched[0]?.trigger).toEqual({ kind: "webhook", event: again?.event });
  expect(again && receiver.index.match("hub", again).matched).toEqual(["dev"]);
});

test("a verified delivery starts nothing when it is repeated, and is answered with the first receipt", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  await receiver.receive(github("hush"));
  const again = await receiver.receive(github("hush"));
  expect(again).toEqual({ status: 200, body: { receiptId: "id-1", duplicate: true } });
  expect(receiver.dispatched).toHaveLength(1);
  const other = github("hush", { body: bytes({ action: "closed" }) });
  expect(statusOf(await receiver.receive(other))).toBe(200);
  expect(receiver.dispatched).toHaveLength(2);
});

test("a verified delivery that matches nothing is one dead letter with the closest filter", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev", { repos: ["acme/x"] });
  expect(await receiver.receive(github("hush"))).toEqual({
    status: 200,
    body: { receiptId: "id-1", matched: [] },
  });
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

test("a verified delivery for a disabled agent is that agent's dead letter, while others run", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  receiver.listen("off");
  receiver.index.setEnabled("off", false);
  await receiver.receive(github("hush"));
  expect(receiver.accepted[0]).toMatchObject({
    receipt: { matched: ["dev"], reason: "agent disabled: off" },
    items: [{ agent: "dev" }],
    deadLetters: [{ agent: "off", reason: "agent disabled" }],
  });
  receiver.index.setEnabled("dev", false);
  await receiver.receive(github("hush", { id: "d2" }));
  expect(receiver.accepted[1]?.items).toEqual([]);
  expect(receiver.accepted[1]?.deadLetters.map(({ agent }) => agent)).toEqual(["dev", "off"]);
});

test("a verified delivery is asked for again when the store fails, and then accepted", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  receiver.storeFails = true;
  const answer = await receiver.receive(github("hush"));
  expect([statusOf(answer), errorOf(answer)]).toEqual([503, "store_unavailable"]);
  expect(receiver.dispatched).toEqual([]);
  expect(receiver.warned).toEqual([expect.stringContaining("disk full")]);
  receiver.storeFails = false;
  expect(statusOf(await receiver.receive(github("hush")))).toBe(200);
  expect(receiver.dispatched).toHaveLength(1);
});

test("a verified delivery that is a ping gets an answer and is not stored", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  const ping = github("hush", { event: "ping", body: bytes({ zen: "Keep it simple." }) });
  expect(await receiver.receive(ping)).toEqual({
    status: 200,
    body: { pong: true, zen: "Keep it simple." },
  });
  expect(receiver.accepted).toEqual([]);
  const forged = github("wrong", { event: "ping", body: bytes({}) });
  expect(statusOf(await receiver.receive(forged))).toBe(401);
});

test("an unverified delivery is rejected before it is read, in the same words for every cause", async () => {
  const receiver = new TestReceiver();
  const answers = [
    await receiver.receive(github(null)),
    await receiver.receive(github("wrong")),
    await receiver.receive(github("wrong", { body: bytes("not json") })),
  ];
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers.map(errorOf)).toEqual(Array(3).fill("bad_signature"));
  expect(receiver.happened).not.toContain("accept");
  expect(receiver.counted.map(({ result }) => result)).toEqual(Array(3).fill("unverified"));
  expect(receiver.warned).toHaveLength(1);
});

test("an unverified delivery does not block a later good one with the same id", async () => {
  const receiver = new TestReceiver();
  receiver.listen("dev");
  await receiver.receive(github("wrong"));
  expect(statusOf(await receiver.receive(github("hush")))).toBe(200);
  expect(receiver.dispatched).toHaveLength(1);
});

test("an unverified delivery with a good signature and an old time is refused like any other", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("pay", { type: "stripe" })];
  receiver.secrets = new Map([["pay", ["s"]]]);
  const body = bytes({ id: "evt_1", type: "invoice.paid" });
  const headers = signDelivery("stripe", "s", body, start);
  const delivery = { type: "stripe", source: null, headers, body };
  receiver.now = start + 301_000;
  expect(errorOf(await receiver.receive(delivery))).toBe("bad_signature");
  expect(receiver.warned[0]).toContain("301 s old");
  receiver.now = start;
  expect(statusOf(await receiver.receive(delivery))).toBe(200);
});

test("an unverified delivery with a good signature and an unreadable body is malformed, and nothing is stored", async () => {
  const receiver = new TestReceiver();
  const answer = await receiver.receive(github("hush", { body: bytes("not json") }));
  expect([statusOf(answer), errorOf(answer)]).toEqual([400, "malformed"]);
  expect(receiver.accepted).toEqual([]);
});

test.each(["bitbucket", "__proto__", "constructor", ""])(
  "an unverified delivery to the unknown type %j is not found",
  async (type) => {
    const receiver = new TestReceiver();
    const answer = await receiver.receive({ ...github("hush"), type });
    expect([statusOf(answer), errorOf(answer)]).toEqual([404, "unknown_type"]);
    expect(receiver.counted).toEqual([{ type: "unknown", source: null, result: "not_found" }]);
  },
);

test("an unverified delivery to an unknown source, a source of another type or a type without sources is not found", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub"), source("tracker", { type: "linear" })];
  for (const name of ["nobody", "tracker"]) {
    const answer = await receiver.receive(github("hush", { source: name }));
    expect([statusOf(answer), errorOf(answer)]).toEqual([404, "unknown_source"]);
  }
  expect(statusOf(await receiver.receive({ ...github("hush"), type: "sentry" }))).toBe(404);
});

test("every GitHub example, signed, is answered 200", async () => {
  const receiver = new TestReceiver();
  receiver.listen("all");
  let sent = 0;
  for (const { name, examples } of githubExamples) {
    for (const payload of examples) {
      const delivery = github("hush", { body: bytes(payload), event: name, id: `d${sent++}` });
      expect(statusOf(await receiver.receive(delivery))).toBe(200);
    }
  }
  const pings = githubExamples.find(({ name }) => name === "ping")?.examples.length ?? 0;
  expect(receiver.dispatched).toHaveLength(sent - pings);
});

test("a delivery that is not stored is counted for its source, without any text of its sender", async () => {
  const receiver = new TestReceiver();
  await receiver.receive(github("wrong"));
  await receiver.receive(github("wrong", { source: "<evil>" }));
  await receiver.receive(github("hush", { body: bytes("<evil>") }));
  await receiver.receive(github("hush"));
  await receiver.receive(github("hush"));
  receiver.storeFails = true;
  await receiver.receive(github("hush", { id: "d2" }));
  await receiver.receive({ ...github("hush"), type: "<evil>" });
  expect(receiver.refused.map(({ source, result }) => [source, result])).toEqual([
    ["hub", "unverified"],
    [null, "not_found"],
    ["hub", "malformed"],
    ["hub", "duplicate"],
    ["hub", "unavailable"],
    [null, "not_found"],
  ]);
  expect(receiver.refused[3]?.reason).toContain("receipt id-");
  expect(JSON.stringify(receiver.refused)).not.toContain("evil");
});

test("a delivery that is not stored is counted for no source if several could have signed it", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub"), source("other")];
  await receiver.receive(github("wrong"));
  await receiver.receive(github("wrong", { source: "other" }));
  expect(receiver.refused.map((one) => one.source)).toEqual([null, "other"]);
});
