import { expect, test } from "vitest";
import type { Page } from "playwright-core";
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

const lanes = (page: Page) => page.locator("a.lane-label").allInnerTexts();
const unfold = (page: Page) => page.getByRole("button", { name: "Timeline" }).click();

test("it counts all work of three days by outcome, and unfolds a strip for each agent", async () => {
  const many = Array.from({ length: 1_300 }, (_, index) => run("dev", 20 + index / 100_000));
  const deps = withRuns(
    ["ant", "cat", "dev"],
    run("cat", 40, "failed"),
    run("cat", 40),
    run("cat", 2, "skipped"),
    ...many,
  );
  const { page, errors } = await open("/dashboard", deps);
  const summary = "1 failed, 1 skipped, 1301 succeeded";
  expect(await page.locator("#timeline-summary").innerText()).toBe(`3 days: ${summary}`);
  expect(await page.getByRole("group", { name: `All agents: ${summary}` }).count()).toBe(1);
  expect((await page.locator("#timeline").boundingBox())?.height).toBeLessThan(45);
  await unfold(page);
  expect(await lanes(page)).toEqual(["cat", "dev"]);
  const cat = page.getByRole("group", { name: "cat: 1 failed, 1 skipped, 1 succeeded" });
  expect(await cat.locator(".bucket").count()).toBe(24);
  expect(await cat.locator(".bucket.error").innerText()).toBe("1");
  expect(await cat.locator(".bucket.error").getAttribute("title")).toMatch(
    /^From .+: 1 failed, 1 succeeded$/,
  );
  await page.reload();
  await expect.poll(() => lanes(page)).toEqual(["cat", "dev"]);
  expect(errors).toEqual([]);
});

test("a bucket leads to its work, a name to its agent", async () => {
  const deps = withRuns(["ant", "dev"], run("dev", 40, "failed"), run("dev", 2), run("ant", 40));
  const { page, url } = await open("/dashboard", deps);
  await unfold(page);
  await page.getByRole("group", { name: /^dev/ }).locator(".bucket.error").click();
  await page.waitForURL(/triggers\?agent=dev&since=/);
  const rows = page.locator("#trigger-rows tr");
  expect(await rows.count()).toBe(1);
  expect(await rows.innerText()).toContain("exit 3");
  expect(await page.getByLabel("Time").innerText()).toMatch(/^Since /);
  await page.goBack();
  await page.locator("a.lane-label", { hasText: "dev" }).click();
  await page.waitForURL(`${url}/dashboard/agents/dev`);
});

test("the strips follow the runs, the table's filter and its order", async () => {
  const deps = withRuns(["ant", "bee"], run("ant", 9), run("bee", 9));
  const { page } = await open("/dashboard?sort=-name", deps);
  await unfold(page);
  expect(await lanes(page)).toEqual(["bee", "ant"]);
  deps.operations.entries.push(run("bee", 0, "timed_out"));
  deps.operations.setAgent({ name: "bee", state: "error", lastOutcome: "timed_out" });
  await expect
    .poll(() => page.locator("#timeline-summary").innerText(), { timeout: 10_000 })
    .toBe("3 days: 1 timed out, 2 succeeded");
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("ant");
  await expect.poll(() => lanes(page)).toEqual(["ant"]);
  expect(await page.locator("#timeline-summary").innerText()).toBe("3 days: 1 succeeded");
});

test("fifty agents have strips; the filter finds the others", async () => {
  const names = Array.from({ length: 60 }, (_, index) => `agent-${index + 10}`);
  const { page } = await open("/dashboard", withRuns(names, ...names.map((name) => run(name, 5))));
  await unfold(page);
  await expect.poll(() => page.locator("#timeline-lanes").innerText()).toContain("10 more agents");
  expect(await lanes(page)).toHaveLength(50);
});
