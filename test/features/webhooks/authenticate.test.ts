import type { Delivery } from "../../../src/features/webhooks/provider.ts";
import { TestReceiver, github, openSource, source } from "./test-receiver.ts";

test("the source of a webhook delivery is found by the signature, unless the URL names the source", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("one"), source("two")];
  receiver.secrets = new Map(Object.entries({ one: ["first"], two: ["old", "second"] }));
  await receiver.deliver({ secret: "second" });
  await receiver.deliver({ secret: "old", id: "d2" });
  await receiver.deliver({ secret: "first", id: "d3", source: "one" });
  expect(receiver.accepted.map(({ receipt }) => receipt.source)).toEqual(["two", "two", "one"]);
  expect(await receiver.deliver({ secret: "first", source: "two" })).toMatchObject({ status: 401 });
});

test("an unsigned webhook delivery is accepted at the source's own URL, or if its type has no other source", async () => {
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
])("an unsigned webhook delivery from a web page gets 403 for the headers %j", async (headers) => {
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

test("an unsigned webhook delivery is rejected if two sources allow it, and the log names these sources' URLs", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [openSource("a"), openSource("b")];
  expect(await receiver.deliver({ secret: null })).toMatchObject({ status: 401 });
  expect(receiver.warned[0]).toContain("each answers at its own path only");
});

test("a webhook delivery is rejected if its source has no credential and allows no unsigned ones", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub", { credential: null })];
  const answer = await receiver.deliver({ secret: null });
  expect(answer).toMatchObject({ error: "bad_signature" });
  expect(JSON.stringify(answer)).not.toMatch(/hub|credential/);
  expect(receiver.warned[0]).toContain("allowUnsigned = true");
});

test("a webhook delivery is rejected if its source's secret is missing or empty, even if unsigned ones are allowed", async () => {
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

test("a webhook delivery gets 503 if its source's secret can't be read, without details", async () => {
  const receiver = new TestReceiver();
  receiver.secrets = new Map([["hub", new Error("EACCES: hunter2")]]);
  const answer = await receiver.deliver();
  expect(answer).toMatchObject({ status: 503, error: "secret_unavailable" });
  expect(JSON.stringify([answer, receiver.warned])).not.toContain("hunter2");
});
