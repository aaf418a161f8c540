import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { historyEntry } from "../../helpers/history-entry.ts";
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
    /✕ run failed\s*1 min 01 s · 2 turns · 1,204 tokens · \$0\.0123\s*it gave up/,
  );
  expect(await page.getByText("file 29").isVisible()).toBe(false);
  await page.getByText("output, 30 lines").click();
  expect(await page.getByText("file 29").isVisible()).toBe(true);
});

test("locks, calls and waits are told in words", async () => {
  const deps = testDeps();
  const attack = `<img src=x onerror="window.hacked=true">`;
  const call = (tool: string, input: unknown, answer: unknown): void => {
    const shared = { agent: "dev", instanceId: "dev-abcdefgh", tool };
    deps.logs.write({ ...shared, kind: "tool", msg: tool, input });
    const output = JSON.stringify(answer);
    const isError = !output.includes('"ok":true');
    deps.logs.write({ ...shared, kind: "tool-result", msg: `${tool} done`, output, isError });
  };
  const expiresAt = new Date(2026, 10, 21, 12, 30).toISOString();
  const resource = `x:${attack.replaceAll(" ", "/")}`;
  call("al_lock", { resource, waitSeconds: 120 }, { ok: true, expiresAt, fencingToken: 7 });
  call("al_lock", { resource }, { ok: false, error: "held", detail: `held by ops-1 ${attack}` });
  call("al_call", { agent: "cat", context: attack }, { ok: true, callId: "c1", state: "queued" });
  const ended = { agent: "cat", state: "ended", outcome: "timed_out", reason: "900 s" };
  const calls = [{ ...ended, value: { text: attack } }];
  call("al_call_wait", { callIds: ["c1"], timeoutSeconds: 60 }, { ok: true, calls });
  const wait = { kind: "webhook", source: "hub", event: "issues", where: { "issue.number": 7 } };
  call("wait_for_trigger", wait, { ok: true, timedOut: true, trigger: null });
  const limited = { askedSeconds: 7_200, timeoutSeconds: 1_800, why: "waitTimeout" };
  const long = { kind: "webhook", timeoutSeconds: 7_200 };
  call("wait_for_trigger", long, { ok: true, timedOut: true, limited, trigger: null });
  call("al_unlock", { resource }, { ok: true });
  const { page, rows, errors } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(14);
  const texts = (await page.locator("#log .content").allInnerTexts()).map((text) =>
    text.replace(/\s+/g, " ").trim(),
  );
  expect(texts).toEqual([
    `al_lock locks ${resource}, and waits for it up to 2 min 00 s`,
    "al_lock done has it until 12:30:00 · fencing token 7",
    `al_lock locks ${resource}`,
    `al_lock failed held by ops-1 ${attack}`,
    `al_call calls cat with ${attack}`,
    "al_call done it is queued · call c1",
    "al_call_wait waits for 1 call to end, for up to 1 min 00 s",
    `al_call_wait done cat timed out: 900 s. { "text": ${JSON.stringify(attack)} }`,
    "wait_for_trigger waits for a webhook issues from hub with issue.number = 7",
    "wait_for_trigger done nothing came in time",
    "wait_for_trigger waits for a webhook, for up to 2 h 00 min",
    "wait_for_trigger done nothing came in time (30 min, as it may not wait longer)",
    `al_unlock frees ${resource}`,
    "al_unlock done it is free",
  ]);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("the entry as it was written is one click away, for one line or all", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows } = await openWith(0, deps);
  await expect.poll(() => rows.count()).toBe(8);
  await rows.nth(2).locator(".at").click();
  expect(await page.locator(".raw-entry").count()).toBe(1);
  const raw = JSON.parse((await page.locator(".raw-entry").textContent()) ?? "") as unknown;
  expect(raw).toMatchObject({ kind: "tool", input: { command: "ls -l" }, level: 30 });
  await page.getByRole("button", { name: "Raw" }).click();
  expect(await page.locator(".raw-entry").count()).toBe(8);
  deps.logs.write({ agent: "dev", msg: "one more" });
  await expect.poll(() => page.locator(".raw-entry").count()).toBe(9);
  await page.getByRole("button", { name: "Raw" }).click();
  expect(await page.locator(".raw-entry").count()).toBe(0);
});

test("a run without lines is told as that", async () => {
  const { page, url } = await openWith(3);
  await page.goto(`${url}${path}?instance=dev-unknown`);
  await expect.poll(() => page.locator("#log-empty").innerText()).toMatch(/^No lines of this run/);
});

test("one run is shown alone, and all of them again", async () => {
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

test("long lines wrap or don't, and that is remembered", async () => {
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

test("the log is downloaded as it was written", async () => {
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
