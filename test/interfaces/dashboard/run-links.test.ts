import { expect, test } from "vitest";
import { aDelivery } from "../../helpers/fake-alerts.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const instanceId = "dev-abcdefgh";
const toRun = `/dashboard/agents/dev/runs/${instanceId}`;

function withRun() {
  const deps = testDeps();
  const at = new Date(Date.now() - 60_000).toISOString();
  deps.operations.entries.push(historyEntry({ id: "a", instanceId, at, durationMs: 30_000 }));
  deps.operations.addLog({ msg: "a file changed" });
  deps.operations.addLog({ msg: "run succeeded", agent: "dev", instanceId });
  deps.operations.alerting.deliveries = [aDelivery(1, { instanceId })];
  deps.logs.write({ agent: "dev", instanceId, msg: "hello" });
  return deps;
}

const lists = [
  ["Recent Activity", "/dashboard", "#activity"],
  ["an agent's runs", "/dashboard/agents/dev", "#run-rows"],
  ["the triggers", "/dashboard/triggers", "#trigger-rows"],
  ["the log", "/dashboard/agents/dev/logs", "#log"],
  ["the alerts", "/dashboard/alerts", "#deliveries"],
] as const;

test.each(lists)("from %s a link leads to the page of a run", async (_list, path, place) => {
  const { page } = await open(path, withRun());
  const links = page.locator(`${place} a[href="${toRun}"]`);
  await expect.poll(() => links.count()).toBe(1);
});
