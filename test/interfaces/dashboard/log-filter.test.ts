import { expect, test } from "vitest";
import { testDeps } from "../gateway/start-gateway.ts";
import { writeStory } from "./log-support.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev/logs";

async function openWith(lines: number, deps = testDeps()) {
  for (let line = 1; line <= lines; line++) deps.logs.write({ agent: "dev", msg: `line ${line}` });
  const opened = await open(path, deps);
  return { ...opened, rows: opened.page.locator("#log .line") };
}

test("lines are filtered by level and by text, also those that come", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows, url } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(8);
  await page.getByLabel("Level").selectOption("warn");
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByLabel("Show only lines with this text").fill("GAVE up");
  await expect.poll(() => rows.count()).toBe(1);
  await expect.poll(() => page.locator("#connection").innerText()).toBe("Live");
  deps.logs.write({ agent: "dev", level: 50, instanceId: "dev-cccccccc", msg: "other" });
  deps.logs.write({ agent: "dev", level: 50, instanceId: "dev-bbbbbbbb", msg: "gave up again" });
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.locator(".run-heading a:first-child").allInnerTexts()).toEqual([
    "dev-abcdefgh",
    "dev-bbbbbbbb",
  ]);
  // The filter is in the address: a reload and the way back from another page keep it.
  expect(page.url()).toBe(`${url}${path}?q=GAVE%20up&level=warn`);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(2);
  await page.goto(`${url}/dashboard`);
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.getByLabel("Show only lines with this text").inputValue()).toBe("GAVE up");
  await page.getByLabel("Show only lines with this text").fill("");
  await page.getByLabel("Level").selectOption("");
  await expect.poll(() => rows.count()).toBe(10);
  expect(await page.locator(".run-heading").count()).toBe(3);
});

test("a filter that no line meets says so", async () => {
  const { page, rows, deps } = await openWith(3);
  const note = page.locator("#log-empty");
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByLabel("Show only lines with this text").fill("needle");
  await expect.poll(() => note.innerText()).toBe("No matching lines.");
  await expect.poll(() => page.locator("#connection").innerText()).toBe("Live");
  deps.logs.write({ agent: "dev", msg: "a needle" });
  await expect.poll(() => note.isVisible()).toBe(false);
});

test("a filter unfolds the output that it found, and folds it again", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page } = await openWith(0, deps);
  const filter = page.getByLabel("Show only lines with this text");
  const found = page.getByText("file 29");
  await filter.fill("File 29");
  await expect.poll(() => found.isVisible()).toBe(true);
  await filter.fill("");
  await expect.poll(() => found.isVisible()).toBe(false);
});

test("the filter's text is marked in the lines that it found", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows } = await openWith(0, deps);
  const marked = () =>
    page.evaluate(
      `[...CSS.highlights.get("match")].map(({ startContainer: node, startOffset, endOffset }) =>
        node.data.slice(startOffset, endOffset))`,
    );
  await expect.poll(() => rows.count()).toBe(8);
  expect(await marked()).toEqual([]);
  await page.getByLabel("Show only lines with this text").fill("bash");
  await expect.poll(() => rows.count()).toBe(4);
  expect(await marked()).toEqual(["bash", "bash", "bash", "bash"]);
  await page.getByLabel("Show only lines with this text").fill("GAVE up");
  await expect.poll(marked).toEqual(["gave up"]);
  await page.getByRole("button", { name: "Clear" }).click();
  expect(await marked()).toEqual([]);
});
