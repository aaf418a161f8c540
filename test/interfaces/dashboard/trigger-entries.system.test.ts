import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/triggers";

function withEntries(...entries: readonly HistoryEntry[]) {
  const deps = testDeps();
  deps.operations.entries.push(...entries);
  return deps;
}

function manyRuns(count: number): HistoryEntry[] {
  return Array.from({ length: count }, (_, index) =>
    historyEntry({
      id: `run-${String(index).padStart(4, "0")}`,
      at: new Date(Date.now() - (count - index) * 1000).toISOString(),
    }),
  );
}

test("the agent filter takes a part of a name, as one types, and is one step back", async () => {
  const entries = ["report-data", "sync-data", "sync-web"].map((agent) =>
    historyEntry({ id: agent, agent }),
  );
  const { page, url } = await open("/dashboard/alerts", withEntries(...entries));
  await page.goto(url + path);
  const rows = page.locator("#trigger-rows tr");
  await expect.poll(() => rows.count()).toBe(3);
  const field = page.getByRole("combobox", { name: "Agent" });
  await field.pressSequentially("da");
  await expect.poll(() => rows.count()).toBe(2);
  await field.pressSequentially("ta");
  await expect.poll(() => page.url()).toContain("agent=data");
  expect(await rows.count()).toBe(2);
  await field.fill("sync-web");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
});

test("an opened entry has an address of its own, which opens it wherever it is in the history", async () => {
  const { page, url, errors } = await open(path, withEntries(...manyRuns(120)));
  await page
    .getByRole("button", { name: /^Details of the/ })
    .nth(1)
    .click();
  await expect.poll(() => page.url()).toBe(`${url}${path}?entry=run-0118`);
  await page.reload();
  const details = page.locator(".details-row");
  await expect.poll(() => details.innerText()).toContain("run-0118");
  expect(await page.locator("#trigger-rows > tr").nth(1).getAttribute("data-entry")).toBe(
    "run-0118",
  );
  await page.goto(`${url}${path}?entry=run-0003`);
  await expect.poll(() => details.innerText()).toContain("run-0003");
  expect(await page.locator("#trigger-rows > tr").first().getAttribute("data-entry")).toBe(
    "run-0003",
  );
  await page.getByRole("button", { name: /^Hide of the/ }).click();
  await expect.poll(() => page.url()).toBe(url + path);
  await page.goto(`${url}${path}?entry=gone`);
  await expect.poll(() => page.locator("#trigger-rows > tr").count()).toBe(50);
  expect(errors).toEqual([]);
});
