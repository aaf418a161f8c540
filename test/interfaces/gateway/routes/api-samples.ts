import type { OpenAlertView } from "../../../../src/features/alerts/alerts-report.ts";
import type { ReceiptView } from "../../../../src/foundation/contracts/operator-api.ts";
import { aDelivery, aTarget } from "../../../helpers/fake-alerts.ts";
import { aQuestionView } from "../../../helpers/fake-questions.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { aRunView } from "../../../helpers/run-view.ts";
import type { openApp } from "../start-gateway.ts";

export const at = "2026-11-22T08:00:00.000Z";
export const receiptId = "0193a1b2-0000-7000-8000-000000000001";

/** A stored delivery of GitHub that matched these agents. */
export function aReceipt(id: string, matched: string[]): ReceiptView {
  const type = { source: "gh", type: "github", deliveryId: "d1", reason: null };
  return { ...type, receiptId: id, at, bytes: 12, headers: {}, matched, payload: {}, text: null };
}

export const tree = {
  context: "review it",
  value: { ok: true },
  entries: [historyEntry({ id: "a" })],
};
const version = { hash: "a".repeat(32), commit: null, dirty: null };
export const difference = {
  from: { instanceId: "dev-aaaaaaaa", version },
  to: { instanceId: "dev-bbbbbbbb", version },
  changed: true,
  text: "--- a\n+++ b\n",
};
export const run = aRunView("dev-bbbbbbbb");
export const deniedHost = {
  host: "api.evil.test",
  port: 443,
  attempts: 3,
  entry: "api.evil.test",
  lastAt: at,
  denied: "not_allowed" as const,
};
export const refused = {
  type: "github",
  source: null,
  result: "unverified" as const,
  count: 2,
  reason: "wrong",
  firstAt: at,
  lastAt: at,
};
export const lock = {
  resource: "deploy",
  agent: "dev",
  instanceId: "dev-abcdefgh",
  heldSince: at,
  expiresAt: at,
};
export const spending = { rows: [], limits: [], forecast: { monthUsd: 3.1, p90Usd: 7 } };
export const targets = [aTarget("ops", { state: "failing", waiting: 1, lastError: "HTTP 503" })];
export const open: readonly OpenAlertView[] = [
  { agent: "dev", topic: "runs", since: at, count: 2, reason: null, ack: null },
];
export const dead = aDelivery(2, { state: "dead", attempts: 8, lastError: "HTTP 503" });
const deliveries = [aDelivery(1), dead, aDelivery(3)];
export const question = aQuestionView();

/** Something for each route to answer. */
export async function fill(opened: Awaited<ReturnType<typeof openApp>>): Promise<void> {
  const { operations, deps } = opened;
  operations.setScheduler({ gatewayUrl: "http://localhost:1" });
  await deps.context.tokens.create({ name: "old", scopes: ["read"], days: 1 });
  operations.receipts.set(receiptId, aReceipt(receiptId, ["dev"]));
  operations.trees.set("a", tree);
  operations.runs.set("dev-bbbbbbbb", run);
  operations.differences.set("dev-bbbbbbbb", difference);
  operations.deniedHosts = [deniedHost];
  operations.refusedNow.push(refused);
  operations.heldLocks.push(lock);
  operations.spending.set("agent", spending);
  operations.asked.push(question, aQuestionView({ id: "old", state: "expired" }));
  Object.assign(operations.alerting, { targets, open, deliveries });
}
