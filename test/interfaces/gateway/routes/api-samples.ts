import type { ReceiptView } from "../../../../src/foundation/contracts/operator-api.ts";
import { aDelivery, aTarget } from "../../../helpers/fake-alerts.ts";
import { aQuestionView } from "../../../helpers/fake-questions.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { aRunView } from "../../../helpers/run-view.ts";
import type { openApp } from "../start-gateway.ts";

export const at = "2026-11-22T08:00:00.000Z";
const receiptId = "0193a1b2-0000-7000-8000-000000000001";

/** A stored delivery of GitHub that matched these agents. */
export function aReceipt(id: string, matched: string[]): ReceiptView {
  const type = { source: "gh", type: "github", deliveryId: "d1", reason: null };
  return { ...type, receiptId: id, at, bytes: 12, headers: {}, matched, payload: {}, text: null };
}

/** Something for each operation to answer. */
export async function fill(opened: Awaited<ReturnType<typeof openApp>>): Promise<void> {
  const { operations, deps } = opened;
  operations.setScheduler({ gatewayUrl: "http://localhost:1" });
  await deps.context.tokens.create({ name: "old", scopes: ["read"], days: 1 });
  operations.receipts.set(receiptId, aReceipt(receiptId, ["dev"]));
  const entries = [historyEntry({ id: "a" })];
  operations.trees.set("a", { context: "review it", value: { ok: true }, entries });
  const version = { hash: "a".repeat(32), commit: null, dirty: null };
  const ran = (instanceId: string) => ({ instanceId, version });
  operations.runs.set("dev-bbbbbbbb", aRunView("dev-bbbbbbbb"));
  operations.artifacts.set("dev-bbbbbbbb", {
    "chart.png": Buffer.from("89504e470d0a1a0a", "hex"),
    "report.md": "# Report",
  });
  operations.differences.set("dev-bbbbbbbb", {
    from: ran("dev-aaaaaaaa"),
    to: ran("dev-bbbbbbbb"),
    changed: true,
    text: "",
  });
  const run = { agent: "dev", instanceId: "dev-abcdefgh" };
  operations.setClaim({ ...run, resource: "deploy", held: true, since: at, expiresAt: at });
  operations.setClaim({ ...run, resource: "waits", held: false, since: at, expiresAt: null });
  operations.asked.push(aQuestionView(), aQuestionView({ id: "old", state: "expired" }));
  const { memory } = operations;
  const state = memory.file("state.json", '{"seen":1}\n');
  memory.add(
    "dev",
    [state],
    [memory.file("state.json", '{"seen":2}\n'), memory.file("notes/a.md", "A\n")],
  );
  memory.add(
    "shared/team",
    [memory.file("facts.md", "One.\n")],
    [memory.file("facts.md", "Two.\n")],
  );
  const deliveries = [aDelivery(1), aDelivery(2, { state: "dead" })];
  Object.assign(operations.alerting, { targets: [aTarget("ops")], deliveries });
}
