import { expect, test } from "vitest";
import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const openPage = sharedBrowser();
/** Opens a page, and its timeline. */
const open: typeof openPage = async (...given) => {
  const opened = await openPage(...given);
  await opened.page.locator("#timeline-open").click();
  return opened;
};
const minute = 60_000;

/** A run that began so many minutes ago; without a length it goes on. */
function run(
  agent: string,
  minutesAgo: number,
  minutes: number | null,
  other: Partial<HistoryEntry> = {},
): HistoryEntry {
  const start = Date.now() - minutesAgo * minute;
  const end = minutes === null ? null : new Date(start + minutes * minute).toISOString();
  const at = new Date(start).toISOString();
  return historyEntry({
    ...{ id: `${agent}-${minutesAgo}`, agent, at, startedAt: at, endedAt: end },
    ...{ durationMs: minutes === null ? null : minutes * minute },
    ...{ outcome: minutes === null ? null : "succeeded", instanceId: `${agent}-abcdefgh` },
    ...other,
  });
}

function withRuns(names: readonly string[], ...entries: readonly HistoryEntry[]) {
  const deps = testDeps({ operations: fakeOperations(names.map((name) => ({ name }))) });
  deps.operations.entries.push(...entries);
  return deps;
}

test("it shows the agents that ran, how long, and what failed", async () => {
  const deps = withRuns(
    ["ant", "bee", "cat"],
    run("ant", 60, 30),
    run("cat", 90, 45, { outcome: "failed", reason: "exit code 3" }),
    run("cat", 20, 1),
    run("cat", 10, null, { startedAt: null, outcome: "skipped", reason: "all runners are busy" }),
  );
  const { page, errors } = await open("/dashboard", deps);
  await expect
    .poll(() => page.locator(".lane-row a.lane-label").allInnerTexts())
    .toEqual(["ant", "cat"]);
  expect(await page.locator("#timeline-summary").innerText()).toBe(
    "3 runs of 2 agents in 6 hours · 1 failed · 1 did not start",
  );
  expect(
    await page.getByRole("group", { name: "cat: 2 runs, 1 failed, 1 did not start" }).count(),
  ).toBe(1);
  const width = async (kind: string): Promise<number> =>
    (await page.locator(`.bar.${kind}`).first().boundingBox())?.width ?? 0;
  const lane = await page.locator("#timeline-lanes svg").first().boundingBox();
  // A bar's outline adds a pixel on each side.
  expect(Math.abs((await width("succeeded")) - (lane?.width ?? 0) / 12)).toBeLessThan(3);
  expect(Math.abs((await width("failed")) - (lane?.width ?? 0) / 8)).toBeLessThan(3);
  expect(await page.locator(".bar.failed title").textContent()).toContain("exit code 3");
  expect(await page.locator("#timeline-most").innerText()).toBe("max 2 at once");
  expect(errors).toEqual([]);
});

test("a run that starts and ends is drawn by the stream, without a reload", async () => {
  const deps = withRuns(["dev"], run("dev", 30, 5));
  const { entries } = deps.operations;
  const { page } = await open("/dashboard", deps);
  await expect.poll(() => page.locator(".bar").count()).toBe(1);
  entries.push(run("dev", 1, null));
  deps.operations.setAgent({ name: "dev", state: "running", running: 1 });
  await expect.poll(() => page.locator(".bar.running").count()).toBe(1);
  entries[1] = run("dev", 1, 1, { outcome: "timed_out" });
  deps.operations.setAgent({ name: "dev", state: "error", running: 0, lastOutcome: "timed_out" });
  await expect.poll(() => page.locator(".bar.failed").count()).toBe(1);
  expect(await page.locator(".bar").count()).toBe(2);
});

test("the end of a long run is noticed, however many others came after it", async () => {
  const others = Array.from({ length: 300 }, (_, index) => run("ant", 100 - index / 4, 0.1));
  const deps = withRuns(["ant", "dev"], run("dev", 300, null), ...others);
  deps.operations.setAgent({ name: "dev", running: 1, state: "running" });
  const { page } = await open("/dashboard", deps);
  await expect.poll(() => page.locator(".bar").count()).toBe(301);
  deps.operations.entries[0] = run("dev", 300, 300);
  deps.operations.setAgent({ name: "dev", running: 0, state: "idle", lastOutcome: "succeeded" });
  await expect.poll(() => page.locator(".bar.running").count()).toBe(0);
});

test("the hours that are shown are chosen, and remembered", async () => {
  const deps = withRuns(["dev"], run("dev", 30, 5), run("dev", 180, 5), run("dev", 1200, 5));
  const { page } = await open("/dashboard", deps);
  await expect.poll(() => page.locator(".bar").count()).toBe(2);
  await page.getByRole("button", { name: "1 h" }).click();
  await expect.poll(() => page.locator(".bar").count()).toBe(1);
  await page.getByRole("button", { name: "24 h" }).click();
  await expect.poll(() => page.locator(".bar").count()).toBe(3);
  await page.reload();
  await expect.poll(() => page.locator(".bar").count()).toBe(3);
  expect(await page.getByRole("button", { name: "24 h" }).getAttribute("aria-pressed")).toBe(
    "true",
  );
});

test("it is one line with the failed runs marked, until it is opened, which is remembered", async () => {
  const deps = withRuns(["ant"], run("ant", 100, 5, { outcome: "failed" }), run("ant", 50, 5));
  const { page } = await openPage("/dashboard", deps);
  const summary = page.locator("#timeline-summary");
  await expect.poll(() => summary.innerText()).toBe("2 runs of 1 agent in 6 hours · 1 failed");
  expect((await page.locator("#timeline").boundingBox())?.height).toBeLessThan(45);
  expect(await page.locator("#timeline-strip-failed").getAttribute("d")).toMatch(/^M\d+\.\d 0V24$/);
  expect(await page.locator(".bar").count()).toBe(0);
  await page.getByRole("button", { name: "Timeline" }).click();
  await expect.poll(() => page.locator(".bar").count()).toBe(2);
  await page.reload();
  await expect.poll(() => page.locator(".bar").count()).toBe(2);
});

test("a project that began within the hour begins with an hour", async () => {
  const { page } = await open("/dashboard", withRuns(["dev"], run("dev", 10, 5)));
  const summary = page.locator("#timeline-summary");
  await expect.poll(() => summary.innerText()).toBe("1 run of 1 agent in 1 hour");
});

test("the table's filter is the timeline's too", async () => {
  const deps = withRuns(["ant", "bee"], run("ant", 100, 5), run("bee", 90, 5), run("gone", 80, 5));
  const { page } = await open("/dashboard?q=bee", deps);
  const lanes = page.locator(".lane-row a.lane-label");
  await expect.poll(() => lanes.allInnerTexts()).toEqual(["bee"]);
  expect(await page.locator("#timeline-summary").innerText()).toContain("1 run of 1 agent");
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("");
  await expect.poll(() => lanes.allInnerTexts()).toEqual(["ant", "bee", "gone"]);
});

test("a failed run beside another one keeps to its lane, and hides no mark", async () => {
  const deps = withRuns(
    ["ant", "bee"],
    run("ant", 100, 60, { outcome: "failed" }),
    run("bee", 100, 60, { outcome: "failed" }),
    run("bee", 70, null, { startedAt: null, outcome: "skipped" }),
  );
  const { page } = await open("/dashboard", deps);
  const bars = page.locator(".bar.failed");
  await expect.poll(() => bars.count()).toBe(2);
  const [first, second] = [await bars.first().boundingBox(), await bars.last().boundingBox()];
  expect((second?.y ?? 0) - (first?.y ?? 0) - (first?.height ?? 0)).toBeGreaterThan(3);
  expect(
    await page
      .locator(".lane-row")
      .filter({ hasText: "bee" })
      .locator(".bar")
      .last()
      .getAttribute("class"),
  ).toBe("bar refused");
});

test("of many agents the latest have lanes, and more on demand", async () => {
  const names = Array.from({ length: 30 }, (_, index) => `agent-${String(index).padStart(2, "0")}`);
  const deps = withRuns(names, ...names.map((name, index) => run(name, 100 - index, 1)));
  const { page } = await open("/dashboard", deps);
  const lanes = page.locator(".lane-row a.lane-label");
  await expect.poll(() => lanes.count()).toBe(12);
  expect(await lanes.first().innerText()).toBe("agent-18");
  await page.getByRole("button", { name: "Show all 30 agents" }).click();
  expect(await lanes.count()).toBe(30);
  await page.getByRole("button", { name: "Show fewer" }).click();
  expect(await lanes.count()).toBe(12);
});

test("the box is as high as its lanes, and the agents of the project come before gone ones", async () => {
  const names = Array.from({ length: 11 }, (_, index) => `agent-${10 + index}`);
  const deps = withRuns(
    names.slice(2),
    ...names.map((name, index) => run(name, 300 - index, 1, { outcome: "killed" })),
  );
  const { page } = await open("/dashboard", deps);
  const lanes = page.locator(".lane-row a.lane-label");
  await expect.poll(() => lanes.allInnerTexts()).toEqual([...names.slice(2), ...names.slice(0, 2)]);
  const [height, needed] = await Promise.all(
    ["clientHeight", "scrollHeight"].map((size) =>
      page.evaluate(`document.querySelector("#timeline-lanes").${size}`),
    ),
  );
  expect([height, needed]).toEqual([11 * 26, 11 * 26]);
  expect(await page.locator("#timeline-more").isVisible()).toBe(false);
  expect(await page.locator("#timeline-summary").innerText()).toContain("11 killed");
  deps.operations.removeAgent("agent-12");
  await expect.poll(() => lanes.allInnerTexts()).toContain("agent-12");
  await expect.poll(() => lanes.nth(8).innerText()).toBe("agent-10");
  expect(await lanes.last().innerText()).toBe("agent-12");
});

test("on a narrow screen the hours keep their distance", async () => {
  const { page } = await open("/dashboard", withRuns(["dev"], run("dev", 60, 40)));
  await page.setViewportSize({ width: 320, height: 700 });
  await page.reload();
  await expect.poll(() => page.locator("#timeline-axis text").count()).toBeGreaterThan(1);
  const boxes = await Promise.all(
    (await page.locator("#timeline-axis text").all()).map((label) => label.boundingBox()),
  );
  const starts = boxes.map((box) => box?.x ?? 0).sort((a, b) => a - b);
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(36);
});

test("more runs than there is room for are cut, and that is said", async () => {
  const entries = Array.from({ length: 1_300 }, (_, index) => run("dev", 1 + index / 10, 0.05));
  const { page } = await open("/dashboard", withRuns(["dev"], ...entries));
  await expect
    .poll(() => page.locator("#timeline-summary").innerText())
    .toMatch(/^1,000 runs of 1 agent in 6 hours · only the newest, since \d\d:\d\d$/);
  expect(await page.locator(".bar").count()).toBe(1_000);
});

test("a failed run is shown, however many others came after it", async () => {
  const others = Array.from({ length: 1_300 }, (_, index) => run("dev", 1 + index / 10, 0.05));
  const failed = run("ant", 300, 5, { outcome: "timed_out" });
  const { page } = await open("/dashboard", withRuns(["ant", "dev"], failed, ...others));
  const lanes = page.locator(".lane-row a.lane-label");
  await expect.poll(() => lanes.allInnerTexts()).toEqual(["ant", "dev"]);
  expect(await page.locator("#timeline-summary").innerText()).toContain(
    "1 failed · only the newest",
  );
});

test("a bar leads to its run, a lane's name to its agent", async () => {
  const { page, url } = await open("/dashboard", withRuns(["dev"], run("dev", 60, 40)));
  await page.locator(".bar").click();
  await page.waitForURL(`${url}/dashboard/agents/dev/runs/dev-abcdefgh`);
  await page.goBack();
  await page.locator("a.lane-label").click();
  await page.waitForURL(`${url}/dashboard/agents/dev`);
});

test("markup in a reason is shown, not run", async () => {
  const attack = `</title><image href=x onerror="window.hacked=true"/>`;
  const deps = withRuns(["dev"], run("dev", 60, 40, { outcome: "failed", reason: attack }));
  const { page, errors } = await open("/dashboard", deps);
  await expect.poll(() => page.locator(".bar title").textContent()).toContain(attack);
  expect(await page.locator("main image").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});
