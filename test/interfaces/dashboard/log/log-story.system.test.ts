import { readFileSync } from "node:fs";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { copied, logPath, sharedLogs, writeStory } from "../log-support.ts";
import { attack } from "../page-states.ts";

const openWith = sharedLogs();

test("the log shows a run as a transcript", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, shows } = await openWith(0, deps);
  await shows({
    "#log .run-heading": /dev-abcdefgh/,
    "#log .line": [
      /run started by github webhook issues.*opened acme\/site #3 T/,
      /I look first\. Then I leap\./,
      /bash ls -l/,
      /bash done · 312 ms/,
      /1,204 tokens \(1,000 in, 204 out\) · haiku/,
      /bash false/,
      /bash failed exit 1/,
      /✕ run failed ?1 min 01 s · 2 turns · 1,204 tokens · \$0\.01 it gave up/,
    ],
    "#log a:text-is('opened acme/site #3 T')@href": "https://example.com/3",
    "text=file 29": false,
  });
  await page.getByText("output, 30 lines").click();
  await shows({ "text=file 29": true });
});

test("the log shows requests of a run as fields, with markup as text", async () => {
  const deps = testDeps();
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
  const { shows } = await openWith(0, deps);
  await shows({
    "#log .content": [
      `al_lock ${resource} {"waitSeconds":120}`,
      "al_lock done fencingToken: 7",
      `al_lock ${resource}`,
      `al_lock failed held by ${attack}`,
      "al_call cat",
      `al_call done callId: c1 value: { "text": ${JSON.stringify(attack)} }`,
      `al_unlock ${resource}`,
      "al_unlock done",
    ],
  });
});

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

test("a run without lines is reported as such", async () => {
  const { page, url, shows } = await openWith(3);
  await page.goto(`${url}${logPath}?instance=dev-unknown`);
  await shows({ "#log-empty": /^No lines of this run/ });
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
