import { digestOf, digestParts } from "../../../../src/features/alerts/rules/digest.ts";
import type { StoredDelivery } from "../../../../src/features/alerts/rules/alert.ts";
import { anAlert } from "./alerts.ts";

function delivery(id: string, more: Partial<StoredDelivery> = {}): StoredDelivery {
  return {
    id,
    at: 10,
    target: "ops",
    alert: anAlert(),
    nextAt: 10,
    state: "waiting",
    attempts: 0,
    lastError: null,
    endedAt: null,
    receipt: null,
    ...more,
  };
}

const many = (count: number, more: Partial<StoredDelivery> = {}): StoredDelivery[] =>
  Array.from({ length: count }, (_, index) => delivery(String(index), more));

test.each([
  ["five are sent one by one if five may be sent", many(5), 5, 0],
  ["six are joined into a digest if five may be sent", many(6), 5, 6],
  ["a single one is never a digest", many(1), 0, 0],
  [
    "two that waited for the end of quiet hours are joined into a digest",
    many(2, { nextAt: 20 }),
    5,
    2,
  ],
  ["one that waited for the end of quiet hours is sent as it is", many(1, { nextAt: 20 }), 5, 0],
  ["nine that were attempted before are sent again as they are", many(9, { attempts: 1 }), 5, 0],
  ["nine that a person retries are sent as they are", many(9, { lastError: "no" }), 5, 0],
  [
    "questions are not joined into a digest",
    many(9, { alert: anAlert({ topic: "question" }) }),
    5,
    0,
  ],
  [
    "digests are not joined into another one",
    many(9, { alert: anAlert({ topic: "digest" }) }),
    5,
    0,
  ],
])("among due deliveries to one target, %s", (_, due, free, joined) => {
  expect(digestParts(due, free)).toHaveLength(joined);
});

test("a digest counts alerts by topic and phase, and names at most ten agents", () => {
  const alerts = Array.from({ length: 12 }, (_, index) =>
    anAlert({ agent: `a${index}`, at: 100 - index, reason: `no ${index}` }),
  );
  const more = [anAlert({ phase: "resolved" }), anAlert({ topic: "budget", agent: null })];
  expect(digestOf([...alerts, ...more], 200)).toMatchObject({
    topic: "digest",
    phase: "opened",
    agent: null,
    at: 200,
    since: 89,
    count: 14,
    agents: ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"],
    reason: "failed runs: 12 new, 1 resolved; budgets: 1 new",
    alerts: expect.arrayContaining(["a0 failed: no 0"]) as string[],
  });
});

test("a digest of alerts with the same reason shows the reason, and is resolved when all of them are", () => {
  const alerts = ["dev", "ops"].map((agent) =>
    anAlert({ agent, phase: "resolved", reason: "no answer from the model" }),
  );
  expect(digestOf(alerts, 200)).toMatchObject({
    phase: "resolved",
    reason: "failed runs: 2 resolved (no answer from the model)",
  });
});

test("the reason in a digest of a thousand alerts has at most 300 characters", () => {
  const alerts = Array.from({ length: 1_000 }, () => anAlert({ reason: "x".repeat(300) }));
  expect(digestOf(alerts, 200).reason).toHaveLength(300);
});
