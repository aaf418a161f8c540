import { expect, test } from "vitest";
import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

/** A run that arrived so many hours ago. */
function run(
  agent: string,
  hoursAgo: number,
  outcome: HistoryEntry["outcome"] = "succeeded",
): HistoryEntry {
  const at = new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
  const id = `${agent}-${hoursAgo}-${outcome ?? ""}`;
  return historyEntry({ id, agent, at, outcome, reason: outcome === "failed" ? "exit 3" : null });
}

function withRuns(names: readonly string[], ...entries: readonly HistoryEntry[]) {
  const deps = testDeps({ operations: fakeOperations(names.map((name) => ({ name }))) });
  deps.operations.entries.push(...entries);
  return deps;
}

test("an agent's strip counts all work of its three days, and each tick its own", async () => {
  const many = Array.from({ length: 1_300 }, (_, index) => run("dev", 20 + index / 100_000));
  const cats = [run("cat", 40, "failed"), run("cat", 40), run("cat", 2, "skipped")];
  const { page, errors } = await open(
    "/dashboard",
    withRuns(["ant", "cat", "dev"], ...cats, ...many),
  );
  const cat = page.getByRole("group", { name: "3 days of cat: 1 failed, 1 skipped, 1 succeeded" });
  expect(await cat.locator(".tick").count()).toBe(24);
  const failed = cat.getByRole("link", { name: /^From .+: 1 failed, 1 succeeded$/ });
  expect(await failed.getAttribute("class")).toBe("tick failed");
  expect(await page.getByRole("group", { name: "3 days of dev: 1300 succeeded" }).count()).toBe(1);
  expect(await page.locator("tr[data-agent=ant] td.last-3-days").innerText()).toBe("–");
  expect(errors).toEqual([]);
});

test("a tick links to the work of its bucket", async () => {
  const runs = [run("dev", 40, "failed"), run("dev", 2), run("ant", 40)];
  const { page } = await open("/dashboard", withRuns(["ant", "dev"], ...runs));
  await page
    .getByRole("group", { name: /^3 days of dev/ })
    .locator("a.failed")
    .click();
  await page.waitForURL(/triggers\?agent=dev&since=/);
  const rows = page.locator("#trigger-rows tr");
  expect(await rows.count()).toBe(1);
  expect(await rows.innerText()).toContain("exit 3");
  expect(await page.getByLabel("Time").innerText()).toMatch(/^Since /);
});

test("the strips follow the runs", async () => {
  const deps = withRuns(["bee"], run("bee", 9));
  const { page } = await open("/dashboard", deps);
  await page.getByRole("group", { name: "3 days of bee: 1 succeeded" }).waitFor();
  deps.operations.entries.push(run("bee", 0, "timed_out"));
  deps.operations.setAgent({ name: "bee", state: "error", lastOutcome: "timed_out" });
  await page.getByRole("group", { name: "3 days of bee: 1 timed out, 1 succeeded" }).waitFor();
});

test.each([390, 768])("at a width of %i px the strip is below the row's texts", async (width) => {
  const { page } = await open("/dashboard", withRuns(["bee"], run("bee", 9)));
  await page.setViewportSize({ width, height: 800 });
  const strip = await page.locator("tr[data-agent=bee] .strip").boundingBox();
  const name = await page.locator("tr[data-agent=bee] .agent-name").boundingBox();
  expect(strip?.y).toBeGreaterThan((name?.y ?? 800) + (name?.height ?? 0));
  expect(strip?.width).toBeGreaterThan(width * 0.7);
});
