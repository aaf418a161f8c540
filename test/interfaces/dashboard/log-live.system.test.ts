import { testDeps } from "../gateway/start-gateway.ts";
import { logPath, sharedLogs, writeStory } from "./log-support.ts";

const openWith = sharedLogs();

type Fields = { readonly msg: string; readonly [name: string]: unknown };

test("a command's output appears inside its call while it runs, and folds at its end", async () => {
  const deps = testDeps();
  const { page, rows } = await openWith(0, deps);
  const run = { agent: "dev", instanceId: "dev-abcdefgh", tool: "bash", call: "1" };
  const time = Date.now() - 3_000;
  const command = { command: "npm run build" };
  deps.logs.write({ ...run, time, kind: "tool", msg: "bash: npm run build", input: command });
  const live = { ...run, kind: "tool-output", msg: "bash still running" };
  deps.logs.write({ ...live, output: "compiling <b>a</b>\n", leftOut: 0, durationMs: 4_000 });
  await expect.poll(() => rows.count()).toBe(2);
  deps.logs.write({ ...live, output: "compiling b\nlinking\n", leftOut: 1_234, durationMs: 5_000 });
  const block = page.locator("details.live");
  await expect.poll(() => block.innerText()).toContain("linking");
  expect(await block.innerText()).toBe(
    "3 lines so far · 5.0 s\ncompiling <b>a</b>\n… 1,234 characters left out\ncompiling b\nlinking\n",
  );
  expect(await rows.count()).toBe(2);
  const result = { ...run, output: "all of it", isError: false, durationMs: 6_000 };
  deps.logs.write({ ...result, kind: "tool-result", msg: "bash done" });
  await expect.poll(() => rows.count()).toBe(3);
  expect(await block.innerText()).toBe("3 lines while it ran · 5.0 s");
  await page.locator("details.live summary").click();
  await expect.poll(() => page.getByText("compiling b").isVisible()).toBe(true);
});

test("the output of two concurrent runs is separate, and folds at the end of its run", async () => {
  const deps = testDeps();
  const { page, rows } = await openWith(0, deps);
  const line = (instanceId: string, fields: Fields): void =>
    deps.logs.write({ agent: "dev", instanceId, tool: "bash", call: "1", ...fields });
  for (const id of ["dev-a", "dev-b"]) {
    line(id, { kind: "tool", msg: "bash: make", time: Date.now() - 2_000 });
    line(id, { kind: "tool-output", msg: "bash still running", output: `${id} one\n` });
  }
  line("dev-a", { kind: "tool-output", msg: "bash still running", output: "a two\n" });
  await expect.poll(() => page.locator("details.live").first().innerText()).toContain("a two");
  expect(await rows.count()).toBe(4);
  expect(await page.locator("details.live[open]").count()).toBe(2);
  line("dev-a", { kind: "run", msg: "run killed after 3 s", outcome: "killed" });
  await expect.poll(() => page.locator("details.live[open]").count()).toBe(1);
});

test("the log's head has the agent's state and cost, live", async () => {
  const deps = testDeps();
  const { page, errors } = await openWith(0, deps);
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const running = { running: 1, scale: 2, runningUsd: 0.5, spentToday: { usd: 1.2, endsAt } };
  deps.operations.setAgent(Object.assign({ name: "dev", state: "running" as const }, running));
  await expect.poll(() => page.locator("#state").innerText()).toBe("running");
  const load = await page.locator("#load").innerText();
  expect(load).toContain("1 of 2 running");
  expect(load).toContain("$1.20 today");
  deps.operations.removeAgent("dev");
  await expect.poll(() => page.locator("#state").innerText()).toBe("gone");
  expect(errors).toEqual([]);
});

test("on a part of the log the head is live too, and the scheduler's log has none", async () => {
  const deps = testDeps();
  for (let line = 0; line < 300; line++) deps.logs.write({ agent: "dev", msg: `<${line}>` });
  const { page, url } = await openWith(0, deps);
  await page.goto(`${url}${logPath}?at=dev-2026-11-21.log%3A100`);
  await expect.poll(() => page.locator(".line").count()).toBe(120);
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  await expect.poll(() => page.locator("#connection").innerText()).toBe("Live");
  deps.operations.setAgent({ name: "dev", state: "running", running: 1 });
  await expect.poll(() => page.locator("#state").innerText()).toBe("running");
  deps.logs.write({ agent: "dev", msg: "<300>" });
  await page.waitForTimeout(300);
  await expect.poll(() => page.locator(".line").count()).toBe(120);
  await page.goto(`${url}/dashboard/agents/scheduler/logs`);
  await expect.poll(() => page.locator("#connection").innerText()).toBe("Live");
  expect(await page.locator("#run").count()).toBe(0);
});

test("lines are filtered by level and by text, new ones too", async () => {
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
  expect(page.url()).toBe(`${url}${logPath}?q=GAVE%20up&level=warn`);
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

test("a filter without a match says so", async () => {
  const { page, rows, deps } = await openWith(3);
  const note = page.locator("#log-empty");
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByLabel("Show only lines with this text").fill("needle");
  await expect.poll(() => note.innerText()).toBe("No matching lines.");
  await expect.poll(() => page.locator("#connection").innerText()).toBe("Live");
  deps.logs.write({ agent: "dev", msg: "a needle" });
  await expect.poll(() => note.isVisible()).toBe(false);
});

test("a filter marks its text, and unfolds the output with a match", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, rows } = await openWith(0, deps);
  const filter = page.getByLabel("Show only lines with this text");
  const found = page.getByText("file 29");
  const marked = () =>
    page.evaluate(
      `[...(CSS.highlights.get("match") ?? [])].map(({ startContainer: node, startOffset, endOffset }) =>
        node.data.slice(startOffset, endOffset))`,
    );
  await expect.poll(() => rows.count()).toBe(8);
  expect(await marked()).toEqual([]);
  await filter.fill("bash");
  await expect.poll(() => rows.count()).toBe(4);
  expect(await marked()).toEqual(["bash", "bash", "bash", "bash"]);
  await filter.fill("File 29");
  await expect.poll(() => found.isVisible()).toBe(true);
  await expect.poll(marked).toEqual(["file 29"]);
  await filter.fill("");
  await expect.poll(() => found.isVisible()).toBe(false);
  expect(await marked()).toEqual([]);
});
