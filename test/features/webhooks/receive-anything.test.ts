import fc from "fast-check";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import { signDelivery } from "../../../src/features/webhooks/sign.ts";
import { bytes } from "./deliveries.ts";
import { TestReceiver, openSource, source, start, statusOf } from "./test-receiver.ts";

test("responses to random webhook deliveries, and the log, contain no secret, signature or token", async () => {
  const canary = "canary-5f2c";
  for (const type of providerTable.keys()) {
    const receiver = new TestReceiver();
    receiver.sources = [source("hub", { type })];
    receiver.secrets = new Map([["hub", [canary]]]);
    const body = bytes({ webhookTimestamp: start, timestamp: start, type: "x" });
    const good = signDelivery(type, canary, body, start, { event: "issues" });
    const bad = signDelivery(type, `${canary}x`, body, start, { event: "issues" });
    const answers = [
      await receiver.receive({ type, source: null, headers: bad, body }),
      await receiver.receive({ type, source: null, headers: good, body: bytes("{") }),
      await receiver.receive({ type, source: null, headers: good, body }),
    ];
    const visible = JSON.stringify([answers, receiver.warned, receiver.counted, receiver.accepted]);
    expect(visible).not.toContain(canary);
    for (const [name, value] of Object.entries(good)) {
      if (/signature|token/.test(name)) expect(visible).not.toContain(value);
    }
  }
});

test("random bytes to any webhook path get 200 or a 4xx, never a crash", async () => {
  const types = [...providerTable.keys()];
  const headerName = fc.constantFrom(
    ...[...providerTable.values()].flatMap(({ secretHeaders, keptHeaders }) => [
      ...secretHeaders,
      ...keptHeaders,
    ]),
    "content-type",
  );
  const [signed, open] = [source, openSource].map((made) => {
    const receiver = new TestReceiver();
    receiver.sources = types.map((type) => ({ ...made(type), type }));
    receiver.secrets = new Map(types.map((one) => [one, ["hush"]]));
    return receiver;
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(signed, open),
      fc.oneof(fc.constantFrom(...types), fc.string()),
      fc.option(fc.constantFrom(...types, "nobody"), { nil: null }),
      fc.dictionary(headerName, fc.oneof(fc.string(), fc.array(fc.string()))),
      fc.oneof(
        fc.uint8Array().map((data) => Buffer.from(data)),
        fc.json().map(bytes),
      ),
      async (receiver, type, named, headers, body) => {
        const answer = await receiver?.receive({ type, source: named, headers, body });
        expect([200, 400, 401, 404]).toContain(answer?.status);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("an unsigned webhook body is rejected before parsing if parsing would take long", async () => {
  const size = 5 * 1024 * 1024;
  const json = ["[", "{}", '"",', "1,", '{"a":', '[[[{"":[0,'];
  const piece = fc.constantFrom(...json, "a=b&", "%5B", "payload=%7B%22a%22:[&");
  const contentType = fc.constantFrom("application/json", "application/x-www-form-urlencoded");
  const bodies = fc.tuple(fc.constantFrom("", '{"a":[', "payload={"), piece, contentType);
  const receiver = new TestReceiver();
  receiver.sources = [openSource()];
  await fc.assert(
    fc.asyncProperty(bodies, async ([begin, repeated, type]) => {
      const body = Buffer.from(begin.padEnd(size, repeated));
      const headers = { "x-github-event": "push", "content-type": type };
      const began = process.cpuUsage();
      const answer = await receiver.receive({ type: "github", source: null, headers, body });
      const { user, system } = process.cpuUsage(began);
      expect([400, 413]).toContain(statusOf(answer));
      expect((user + system) / 1000).toBeLessThan(250);
    }),
    { numRuns: 40 },
  );
});

test("webhook deliveries that take long to parse do not block the event loop", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [openSource()];
  const headers = { "x-github-event": "push", "content-type": "application/json" };
  const deliveries = Array.from({ length: 8 }, (_none, n) => {
    const keys = Array.from({ length: 19_900 }, (_key, at) => `"k${n}_${at}":0`);
    const body = Buffer.from(`{${keys.join(",")}}`);
    return { type: "github", source: null, headers, body };
  });
  let turns = 0;
  const counter = setInterval(() => void (turns += 1));
  const answers = await Promise.all(deliveries.map((one) => receiver.receive(one)));
  clearInterval(counter);
  expect(new Set(answers.map(statusOf))).toEqual(new Set([200]));
  expect(turns).toBeGreaterThan(deliveries.length);
});
