import type { Delivery } from "../../../src/features/webhooks/provider.ts";
import { TestReceiver, github, source, statusOf } from "./test-receiver.ts";

test("the source of a delivery is found by the signature at the type's path, and named by its own path", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("one"), source("two")];
  receiver.secrets = new Map(Object.entries({ one: ["first"], two: ["old", "second"] }));
  await receiver.receive(github("second"));
  await receiver.receive(github("old", { id: "d2" }));
  await receiver.receive(github("first", { id: "d3", source: "one" }));
  expect(receiver.accepted.map(({ receipt }) => receipt.source)).toEqual(["two", "two", "one"]);
  expect(statusOf(await receiver.receive(github("first", { source: "two" })))).toBe(401);
});

test("the source of a delivery may be an unsigned one at its own path, or as the only source of its type", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("open", { credential: null, allowUnsigned: true })];
  expect(statusOf(await receiver.receive(github(null)))).toBe(200);
  receiver.sources.push(source("hub"));
  expect(statusOf(await receiver.receive(github(null, { id: "d2" })))).toBe(401);
  expect(statusOf(await receiver.receive(github("hush", { id: "d3" })))).toBe(200);
  expect(statusOf(await receiver.receive(github(null, { id: "d4", source: "open" })))).toBe(200);
  expect(receiver.accepted.map(({ receipt }) => receipt.source)).toEqual(["open", "hub", "open"]);
});

test.each([
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "", "sec-fetch-site": "none" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
])("the source of a delivery is refused as unsigned if a web page sent it: %o", async (headers) => {
  const receiver = new TestReceiver();
  receiver.sources = [source("open", { credential: null, allowUnsigned: true }), source("hub")];
  const receive = (sent: Delivery, added: object) =>
    receiver.receive({ ...sent, headers: { ...sent.headers, ...added } });
  const unsigned = github(null, { source: "open" });
  expect(await receive(unsigned, headers)).toMatchObject({ status: 403, error: "foreign_origin" });
  expect(receiver.refused[0]?.reason).toContain("source open");
  // A signature proves the sender, whatever it adds.
  const signed = github("hush", { source: "hub" });
  expect(await receive(signed, headers)).toMatchObject({ status: 200 });
  expect(await receive(unsigned, { "sec-fetch-site": "none" })).toMatchObject({ status: 200 });
});

test("the source of a delivery is unknown if two are unsigned, and the log says where they answer", async () => {
  const receiver = new TestReceiver();
  const open = { credential: null, allowUnsigned: true };
  receiver.sources = [source("a", open), source("b", open)];
  expect(statusOf(await receiver.receive(github(null)))).toBe(401);
  expect(receiver.warned[0]).toContain("each answers at its own path only");
});

test("the source of a delivery is unknown if it has no credential and does not allow that", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub", { credential: null })];
  const answer = await receiver.receive(github(null));
  expect(answer).toMatchObject({ error: "bad_signature" });
  expect(JSON.stringify(answer)).not.toMatch(/hub|credential/);
  expect(receiver.warned[0]).toContain("allowUnsigned = true");
});

test("the source of a delivery is unknown if the stored secret is missing or empty, unsigned allowed or not", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("hub", { allowUnsigned: true })];
  for (const secrets of [[], [""], [" \n"]]) {
    receiver.secrets = new Map([["hub", secrets]]);
    const forged = { ...github(secrets[0] ?? ""), source: "hub" };
    expect(statusOf(await receiver.receive(forged))).toBe(401);
    expect(statusOf(await receiver.receive(github(null)))).toBe(401);
  }
  expect(receiver.warned[0]).toContain("no secret is stored");
});

test("the source of a delivery is to be tried again if a secret can't be read, which does not leak", async () => {
  const receiver = new TestReceiver();
  receiver.secrets = new Map([["hub", new Error("EACCES: hunter2")]]);
  const answer = await receiver.receive(github("hush"));
  expect(answer).toMatchObject({ status: 503, error: "secret_unavailable" });
  expect(JSON.stringify([answer, receiver.warned])).not.toContain("hunter2");
});
