import { readFileSync } from "node:fs";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { copied, logPath, sharedLogs, writeStory } from "./log-support.ts";

const openWith = sharedLogs();

test("a run reads as a story", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(8);
  const text = await page.locator("#log").innerText();
  expect(text).toContain("dev-abcdefgh");
  expect(text).toContain("run started by github webhook issues");
  expect(await page.getByRole("link", { name: "opened acme/site #3 T" }).count()).toBe(1);
  expect(text).toContain("I look first.\nThen I leap.");
  expect(text).toMatch(/bash\s*ls -l/);
  expect(text).toContain("bash done · 312 ms");
  expect(text).toContain("1,204 tokens (1,000 in, 204 out) · haiku");
  expect(text).toMatch(/bash failed\s*exit 1/);
  expect(await rows.last().innerText()).toMatch(
    /✕ run failed\s*1 min 01 s · 2 turns · 1,204 tokens · \$0\.01\s*it gave up/,
  );
  expect(await page.getByText("file 29").isVisible()).toBe(false);
  await page.getByText("output, 30 lines").click();
  await expect.poll(() => page.getByText("file 29").isVisible()).toBe(true);
});

test("requests to the scheduler are shown as fields, with markup in them as text", async () => {
  const deps = testDeps();
  const attack = `<img src=x onerror="window.hacked=true">`;
  const call = (
    tool: string,
    input: unknown,
    answer: { readonly ok: boolean } & Record<string, unknown>,
  ): void => {
    const shared = { agent: "dev", instanceId: "dev-abcdefgh", tool };
    const result = { output: JSON.stringify(answer), isError: !answer.ok };
    deps.logs.write({ ...shared, kind: "tool", msg: tool, input });
    deps.logs.write({ ...shared, ...result, kind: "tool-result", msg: `${tool} done` });
  };
  const resource = `x:${attack.replaceAll(" ", "/")}`;
  call("al_lock", { resource, waitSeconds: 120 }, { ok: true, fencingToken: 7 });
  call("al_lock", { resource }, { ok: false, error: "held", detail: `held by ${attack}` });
  call("al_call", { agent: "cat" }, { ok: true, callId: "c1", value: { text: attack } });
  call("al_unlock", { resource }, { ok: true });
  const { page, rows, errors } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(8);
  const texts = (await page.locator("#log .content").allInnerTexts()).map((text) =>
    text.replace(/\s+/g, " ").trim(),
  );
  expect(texts).toEqual([
    `al_lock ${resource} {"waitSeconds":120}`,
    "al_lock done fencingToken: 7",
    `al_lock ${resource}`,
    `al_lock failed held by ${attack}`,
    "al_call cat",
    `al_call done callId: c1 value: { "text": ${JSON.stringify(attack)} }`,
    `al_unlock ${resource}`,
    "al_unlock done",
  ]);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("the original entry is one click away, for one line or all", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(8);
  await rows.nth(2).locator(".at").click();
  await expect.poll(() => page.locator(".raw-entry").count()).toBe(1);
  const raw = JSON.parse((await page.locator(".raw-entry").textContent()) ?? "") as unknown;
  expect(raw).toMatchObject({ kind: "tool", input: { command: "ls -l" }, level: 30 });
  await page.getByRole("button", { name: "Raw" }).click();
  await expect.poll(() => page.locator(".raw-entry").count()).toBe(8);
  deps.logs.write({ agent: "dev", msg: "one more" });
  await expect.poll(() => page.locator(".raw-entry").count()).toBe(9);
  await page.getByRole("button", { name: "Raw" }).click();
  await expect.poll(() => page.locator(".raw-entry").count()).toBe(0);
});

test("a run without lines is reported as such", async () => {
  const { page, url } = await openWith(3);
  await page.goto(`${url}${logPath}?instance=dev-unknown`);
  await expect.poll(() => page.locator("#log-empty").innerText()).toMatch(/^No lines of this run/);
});

test("the log shows one run alone, and all of them again", async () => {
  const deps = testDeps();
  writeStory(deps);
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "another" });
  for (const id of ["abcdefgh", "bbbbbbbb"]) deps.operations.entries.push(historyEntry({ id }));
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(9);
  await page.getByRole("link", { name: "dev-bbbbbbbb", exact: true }).click();
  await expect.poll(() => rows.allInnerTexts()).toHaveLength(1);
  await expect.poll(() => page.locator("#run-choice").inputValue()).toBe("dev-bbbbbbbb");
  expect(await page.locator("#download").getAttribute("href")).toContain("instance=dev-bbbbbbbb");
  deps.logs.write({ agent: "dev", instanceId: "dev-cccccccc", msg: "elsewhere" });
  deps.logs.write({ agent: "dev", instanceId: "dev-bbbbbbbb", msg: "here" });
  await expect.poll(() => rows.last().innerText()).toContain("here");
  expect(await rows.count()).toBe(2);
  await page.locator("#run-choice").selectOption("");
  await expect.poll(() => rows.count()).toBe(11);
});

test("long lines wrap or don't, and the choice is remembered", async () => {
  const deps = testDeps();
  deps.logs.write({ agent: "dev", msg: "long ".repeat(400) });
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(1);
  const isWide = () =>
    page.evaluate<boolean>(`document.querySelector("#log").scrollWidth > innerWidth`);
  expect(await isWide()).toBe(false);
  await page.getByRole("button", { name: "Wrap" }).click();
  expect(await isWide()).toBe(true);
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

test("several lines are copied as lines, and a part of one unchanged", async () => {
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

test("a model's Markdown is shown as headings, lists, tables and code, and copied as lines", async () => {
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
  expect(await said.locator(".item").allInnerTexts()).toEqual(["• one\n• two", "• two"]);
  expect(await said.locator("th").allInnerTexts()).toEqual(["file", "lines"]);
  expect(await said.locator("td").last().innerText()).toContain("<img");
  expect(await said.locator("pre").innerText()).toBe("# not a heading");
  // The headings of a text are none of the page's outline.
  expect(await page.locator("#log :is(h1, h2, h3, h4, h5, h6)").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  const text = await copied(page, ".kind-said .at", ".line:last-child .text", 4);
  expect(text).toMatch(/INFO  Plan\n+First this:\n+• one\n+• two\n/);
});
