import { readFileSync } from "node:fs";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { copied, sharedLogs, writeStory } from "../log-support.ts";

const openWith = sharedLogs();

test("the log shows the original entry of one line or of all at a click", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows, shows, press } = await openWith(0, deps);
  await shows({ "#log .line": 8 });
  await rows.nth(2).locator(".at").click();
  await shows({ ".raw-entry": 1 });
  const raw = JSON.parse((await page.locator(".raw-entry").textContent()) ?? "") as unknown;
  expect(raw).toMatchObject({ kind: "tool", input: { command: "ls -l" }, level: 30 });
  await press("Raw");
  await shows({ ".raw-entry": 8 });
  deps.logs.write({ agent: "dev", msg: "one more" });
  await shows({ ".raw-entry": 9 });
  await press("Raw");
  await shows({ ".raw-entry": 0 });
});

test("the log shows one run alone, and all of them again", async () => {
  const deps = testDeps();
  writeStory(deps);
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "another" });
  for (const id of ["abcdefgh", "bbbbbbbb"]) deps.operations.entries.push(historyEntry({ id }));
  const { page, rows, shows } = await openWith(0, deps);
  await shows({ "#log .line": 9 });
  await page.getByRole("link", { name: "dev-bbbbbbbb", exact: true }).click();
  await expect.poll(() => rows.allInnerTexts()).toHaveLength(1);
  await shows({ "#run-choice@value": "dev-bbbbbbbb", "#download@href": /instance=dev-bbbbbbbb/ });
  deps.logs.write({ agent: "dev", instanceId: "dev-cccccccc", msg: "elsewhere" });
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "here" });
  await shows({ "#log .line >> nth=-1": /here/, "#log .line": 2 });
  await page.locator("#run-choice").selectOption("");
  await shows({ "#log .line": 11 });
});

test("long lines wrap or don't, and the choice is remembered", async () => {
  const deps = testDeps();
  deps.logs.write({ agent: "dev", msg: "long ".repeat(400) });
  const { page, shows, press } = await openWith(0, deps);
  await shows({ "#log .line": 1 });
  const isWide = () =>
    page.evaluate<boolean>(`document.querySelector("#log").scrollWidth > innerWidth`);
  await expect.poll(isWide).toBe(false);
  await press("Wrap");
  await expect.poll(isWide).toBe(true);
  await page.reload();
  await expect.poll(isWide).toBe(true);
});

test("the log is downloaded unchanged", async () => {
  const { page } = await openWith(130);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("dev.log.ndjson");
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n");
  expect(lines).toHaveLength(130);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: 30, agent: "dev", msg: "line 1" });
});

test("several log lines are copied as lines, and a part of one unchanged", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, shows } = await openWith(0, deps);
  await shows({ "#log .line": 8 });
  const first = ".line .text";
  const text = await copied(page, first, ".kind-said .text p", 3);
  expect(text).toMatch(
    /^\d\d:\d\d:\d\d INFO  run started by .*T\n\d\d:\d\d:\d\d INFO  I look first\.\nThen I leap\.$/,
  );
  // An empty clipboard: the browser copies by itself what is selected.
  expect(await copied(page, first, ".kind-said .at", 0)).toBe("");
});

test("the headings of a model's text are not in the page's outline, and are copied as lines", async () => {
  const deps = testDeps();
  deps.logs.write({ agent: "dev", kind: "said", msg: "## Plan\nFirst **this**:\n- one\n  - two" });
  deps.logs.write({ agent: "dev", msg: "next" });
  const { page, shows } = await openWith(0, deps);
  await shows({
    "#log .line": 2,
    "#log .heading": "Plan",
    "#log :is(h1, h2, h3, h4, h5, h6)": 0,
  });
  const text = await copied(page, ".kind-said .at", ".line:last-child .text", 4);
  expect(text).toMatch(/INFO  Plan\n+First this:\n+• one\n+• two\n/);
});
