import { expect, test } from "vitest";
import { testDeps } from "../gateway/start-gateway.ts";
import { copied, writeStory } from "./log-support.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev/logs";

async function openWith(lines: number, deps = testDeps()) {
  for (let line = 1; line <= lines; line++) deps.logs.write({ agent: "dev", msg: `line ${line}` });
  const opened = await open(path, deps);
  return { ...opened, rows: opened.page.locator("#log .line") };
}

test("several lines are copied as lines, and a part of one as it is", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(8);
  const first = ".line .text";
  const text = await copied(page, first, ".kind-said .text p", 3);
  expect(text).toMatch(
    /^\d\d:\d\d:\d\d INFO  run started by .*T\n\d\d:\d\d:\d\d INFO  I look first\.\nThen I leap\.$/,
  );
  // An empty clipboard: the browser copies by itself what is selected.
  expect(await copied(page, first, ".kind-said .at", 0)).toBe("");
});

test("what a model says has its headings, lists, tables and code as such, and is copied as lines", async () => {
  const deps = testDeps();
  const msg = [
    "## Plan",
    "First **this**:",
    "- one",
    "  - two",
    "",
    "| file | lines |",
    "|---|---|",
    `| a.ts | <img src=x onerror="window.hacked=true"> |`,
    "",
    "```ts",
    "# not a heading",
    "```",
  ].join("\n");
  deps.logs.write({ agent: "dev", kind: "said", msg });
  deps.logs.write({ agent: "dev", msg: "next" });
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(2);
  const said = page.locator(".kind-said .content");
  expect(await said.locator(".heading").innerText()).toBe("Plan");
  expect(await said.locator("strong").innerText()).toBe("this");
  expect(await said.locator(".item").allInnerTexts()).toEqual(["• one", "• two"]);
  expect(await said.locator("th").allInnerTexts()).toEqual(["file", "lines"]);
  expect(await said.locator("td").last().innerText()).toContain("<img");
  expect(await said.locator("pre").innerText()).toBe("# not a heading");
  // The headings of a text are none of the page's outline.
  expect(await page.locator("#log :is(h1, h2, h3, h4, h5, h6)").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  const text = await copied(page, ".kind-said .at", ".line:last-child .text", 4);
  expect(text).toMatch(/INFO  Plan\n+First this:\n+• one\n+• two\n/);
});
