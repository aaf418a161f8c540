import type { Delivery } from "../../../src/features/webhooks/provider.ts";
import { TestReceiver, github, openSource, source } from "./test-receiver.ts";

test("the source of a delivery is found by the signature at the type's path, and named by its own path", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("one"), source("two")];
  receiver.secrets = new Map(Object.entries({ one: ["first"], two: ["old", "second"] }));
  await receiver.deliver({ secret: "second" });
  await receiver.deliver({ secret: "old", id: "d2" });
  await receiver.deliver({ secret: "first", id: "d3", source: "one" });
  expect(receiver.accepted.map(({ receipt }) => receipt.source)).toEqual(["two", "two", "one"]);
  expect(await receiver.deliver({ secret: "first", source: "two" })).toMatchObject({ status: 401 });
});

test("the source of a delivery may be an unsigned one at its own path, or as the only source of its type", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [openSource()];
  expect(await receiver.deliver({ secret: null })).toMatchObject({ status: 200 });
  receiver.sources.push(source("hub"));
  expect(await receiver.deliver({ secret: null, id: "d2" })).toMatchObject({ status: 401 });
  expect(await receiver.deliver({ id: "d3" })).toMatchObject({ status: 200 });
  expect(await receiver.deliver({ secret: null, id: "d4", source: "open" })).toMatchObject({
    status: 200,
  });
  expect(receiver.accepted.map(({ receipt }) => receipt.source)).toEqual(["open", "hub", "open"]);
});

test.each([
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "", "sec-fetch-site": "none" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
])("an unsigned delivery of a web page gets 403: %j", async (headers) => {
  const receiver = new TestReceiver();
  receiver.sources = [openSource(), source("hub")];
  const receive = (sent: Delivery, added: object) =>
    receiver.receive({ ...sent, headers: { ...sent.headers, ...added } });
  const unsigned = github({ secret: null, source: "open" });
  expect(await receive(unsigned, headers)).toMatchObject({ status: 403, error: "foreign_origin" });
  expect(receiver.refused[0]?.reason).toContain("source open");
  // A signature proves the sender, whatever it adds.
  const signed = github({ source: "hub" });
  expect(await receive(signed, headers)).toMatchObject({ status: 200 });
  expect(await receive(unsigned, { "sec-fetch-site": "none" })).toMatchObject({ status: 200 });
});

test("the source of a delivery is unknown if two are unsigned, and the log says where they answer", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [openSource("a"), openSource("b")];
  expect(await receiver.deliver({ secret: null })).toMatchObject({ status: 401 });
  expect(receiver.warned[0]).toContain("each answers at its own path only");
});

test("the source of a delivery is unknown if it has no credential and does not allow that", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub", { credential: null })];
  const answer = await receiver.deliver({ secret: null });
  expect(answer).toMatchObject({ error: "bad_signature" });
  expect(JSON.stringify(answer)).not.toMatch(/hub|credential/);
  expect(receiver.warned[0]).toContain("allowUnsigned = true");
});

test("the source of a delivery is unknown if the stored secret is missing or empty, unsigned allowed or not", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub", { allowUnsigned: true })];
  for (const secrets of [[], [""], [" \n"]]) {
    receiver.secrets = new Map([["hub", secrets]]);
    const forged = { secret: secrets[0] ?? "", source: "hub" };
    expect(await receiver.deliver(forged)).toMatchObject({ status: 401 });
    expect(await receiver.deliver({ secret: null })).toMatchObject({ status: 401 });
  }
  expect(receiver.warned[0]).toContain("no secret is stored");
});

test("a delivery gets 503 if a secret can't be read, which does not leak", async () => {
  const receiver = new TestReceiver();
  receiver.secrets = new Map([["hub", new Error("EACCES: hunter2")]]);
  const answer = await receiver.deliver();
  expect(answer).toMatchObject({ status: 503, error: "secret_unavailable" });
  expect(JSON.stringify([answer, receiver.warned])).not.toContain("hunter2");
});
