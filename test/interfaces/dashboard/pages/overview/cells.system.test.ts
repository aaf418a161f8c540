import type { Route } from "playwright-core";
import type { HistoryEntry } from "../../../../../src/foundation/contracts/history.ts";
import { fakeOperations } from "../../../../helpers/fake-operations.ts";
import { historyEntry } from "../../../../helpers/history-entry.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { axeFindings } from "../../axe.ts";
import { sharedBrowser } from "../../open-page.ts";

const open = sharedBrowser();

/** A run that arrived so many hours ago. */
function run(
  agent: string,
  hoursAgo: number,
  outcome: HistoryEntry["outcome"] = "succeeded",
): HistoryEntry {
  const at = new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
  const id = `${agent}-${hoursAgo}-${outcome ?? ""}`;
  const digits = hoursAgo.toString(36).replace(/[^a-z2-7]/g, "a");
  const instanceId = `${agent}-${digits.padStart(8, "a").slice(-8)}`;
  return historyEntry({ id, agent, at, outcome, instanceId });
}

function withRuns(names: readonly string[], ...entries: readonly HistoryEntry[]) {
  const deps = testDeps({ operations: fakeOperations(names.map((name) => ({ name }))) });
  deps.operations.entries.push(...entries);
  return deps;
}

test("an outcome strip is one tab stop, the arrow keys go from run to run, and Enter opens one", async () => {
  const runs = [run("dev", 40, "failed"), run("dev", 3), run("dev", 2), run("ant", 40)];
  const { page, url } = await open("/dashboard?sort=name", withRuns(["ant", "dev"], ...runs));
  const strip = page.getByRole("group", { name: /^Last 3 runs of dev/ });
  await expect.poll(() => strip.locator("a:not([tabindex])").count()).toBe(1);
  const focused = () => page.evaluate("document.activeElement.title");
  await page.getByRole("link", { name: "idle: why dev did not run" }).focus();
  await page.keyboard.press("Tab");
  await expect.poll(() => focused()).toMatch(/^dev succeeded/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => focused()).toMatch(/^dev failed/);
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => focused()).toMatch(/^dev failed/);
  const href = await strip.locator("a.error").getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${url}${href}`);
});

test("outcome strips follow the runs, and a filter that shows other agents", async () => {
  const deps = withRuns(["ant", "bee"], run("ant", 8), run("bee", 9));
  const { page } = await open("/dashboard?q=bee", deps);
  await page.getByRole("group", { name: "Last 1 run of bee: 1 succeeded" }).waitFor();
  deps.operations.entries.push(run("bee", 0, "timed_out"));
  deps.operations.setAgent({ name: "bee", state: "error", lastOutcome: "timed_out" });
  const both = "Last 2 runs of bee: 1 succeeded, 1 timed out";
  await page.getByRole("group", { name: both }).waitFor();
  // As many agents as before, but others.
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("ant");
  await page.getByRole("group", { name: "Last 1 run of ant: 1 succeeded" }).waitFor();
});

test("an outcome strip has a run that ended while the strips were loaded", async () => {
  const deps = withRuns(["bee"], run("bee", 9));
  const { page } = await open("/dashboard", deps);
  const arrived = Promise.withResolvers<null>();
  const held = Promise.withResolvers<null>();
  const hold = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    arrived.resolve(null);
    await held.promise;
    await route.fulfill({ response });
  };
  await page.route("**/api/stats/latest-runs?*", hold, { times: 1 });
  deps.operations.setAgent({ name: "bee", statusText: "one" });
  await arrived.promise;
  deps.operations.entries.push(run("bee", 1));
  deps.operations.setAgent({ name: "bee", statusText: "another" });
  await page.getByText("another").waitFor();
  held.resolve(null);
  await page.getByRole("group", { name: "Last 2 runs of bee: 2 succeeded" }).waitFor();
});

test("on a phone the outcome strip is in the second of a row's two lines", async () => {
  const { page } = await open("/dashboard", withRuns(["bee"], run("bee", 9)));
  await page.setViewportSize({ width: 390, height: 800 });
  const strip = await page.locator("tr[data-agent=bee] .strip").boundingBox();
  const name = await page.locator("tr[data-agent=bee] .agent-name").boundingBox();
  expect(strip?.y).toBeGreaterThan((name?.y ?? 800) + (name?.height ?? 0) / 2);
});

test("the list behind More has an agent's other pages, and Escape closes it", async () => {
  const { page, shows } = await open("/dashboard", withRuns(["bee"]));
  await page.getByRole("button", { name: "More of bee" }).click();
  await shows({ ".more li": ["Log", "Why it didn’t run", "Triggers", "Configuration"] });
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await shows({ ".more li": 0, ":focus@aria-label": "More of bee" });
});
