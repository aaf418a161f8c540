import { pause } from "../../../helpers/pause.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { logPath, sharedLogs, writeStory } from "../log-support.ts";

const openWith = sharedLogs();

type Fields = { readonly msg: string; readonly [name: string]: unknown };

test("a command's output appears inside its call while it runs, and folds at its end", async () => {
  const deps = testDeps();
  const { page, shows } = await openWith(0, deps);
  const run = { agent: "dev", instanceId: "dev-abcdefgh", tool: "bash", call: "1" };
  const time = Date.now() - 3_000;
  const command = { command: "npm run build" };
  deps.logs.write({ ...run, time, kind: "tool", msg: "bash: npm run build", input: command });
  const live = { ...run, kind: "tool-output", msg: "bash still running" };
  deps.logs.write({ ...live, output: "compiling <b>a</b>\n", leftOut: 0, durationMs: 4_000 });
  await shows({ "#log .line": 2 });
  deps.logs.write({ ...live, output: "compiling b\nlinking\n", leftOut: 1_234, durationMs: 5_000 });
  await shows({
    "details.live":
      "3 lines so far · 5.0 s compiling <b>a</b> … 1,234 characters left out compiling b linking",
    "#log .line": 2,
  });
  const result = { ...run, output: "all of it", isError: false, durationMs: 6_000 };
  deps.logs.write({ ...result, kind: "tool-result", msg: "bash done" });
  await shows({ "#log .line": 3, "details.live": "3 lines while it ran · 5.0 s" });
  await page.locator("details.live summary").click();
  await expect.poll(() => page.getByText("compiling b").isVisible()).toBe(true);
});

test("the output of two concurrent runs is separate, and folds at the end of its run", async () => {
  const deps = testDeps();
  const { shows } = await openWith(0, deps);
  const line = (instanceId: string, fields: Fields): void =>
    deps.logs.write({ agent: "dev", instanceId, tool: "bash", call: "1", ...fields });
  for (const id of ["dev-a", "dev-b"]) {
    line(id, { kind: "tool", msg: "bash: make", time: Date.now() - 2_000 });
    line(id, { kind: "tool-output", msg: "bash still running", output: `${id} one\n` });
  }
  line("dev-a", { kind: "tool-output", msg: "bash still running", output: "a two\n" });
  await shows({ "details.live >> nth=0": /a two/, "#log .line": 4, "details.live[open]": 2 });
  line("dev-a", { kind: "run", msg: "run killed after 3 s", outcome: "killed" });
  await shows({ "details.live[open]": 1 });
});

test("the log's head has the agent's state and cost, live", async () => {
  const deps = testDeps();
  const { shows } = await openWith(0, deps);
  await shows({ "#state": "idle" });
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const running = { running: 1, scale: 2, runningUsd: 0.5, spentToday: { usd: 1.2, endsAt } };
  deps.operations.setAgent({ name: "dev", state: "running", ...running });
  await shows({ "#state": "running", "#load": /1 of 2 running.*\$1\.20 today/ });
  deps.operations.removeAgent("dev");
  await shows({ "#state": "gone" });
});

test("the head of a part of the log is live too, and the scheduler's log has no head", async () => {
  const deps = testDeps();
  for (let line = 0; line < 300; line++) deps.logs.write({ agent: "dev", msg: `<${line}>` });
  const { page, url, shows } = await openWith(0, deps);
  await page.goto(`${url}${logPath}?at=dev-2026-11-21.log%3A100`);
  await shows({ ".line": 120, "#state": "idle", "#connection": "Live" });
  deps.operations.setAgent({ name: "dev", state: "running", running: 1 });
  await shows({ "#state": "running" });
  deps.logs.write({ agent: "dev", msg: "<300>" });
  await pause(300, "a new line must not follow on a part of the log");
  await shows({ ".line": 120 });
  await page.goto(`${url}/dashboard/agents/scheduler/logs`);
  await shows({ "#connection": "Live", "#run": 0 });
});

test("the log filters lines by level and by text, new ones too", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, url, shows } = await openWith(0, deps);
  await shows({ "#log .line": 8 });
  await page.getByLabel("Level").selectOption("warn");
  await shows({ "#log .line": 2 });
  await page.getByLabel("Show only lines with this text").fill("GAVE up");
  await shows({ "#log .line": 1, "#connection": "Live" });
  deps.logs.write({ agent: "dev", level: 50, instanceId: "dev-cccccccc", msg: "other" });
  deps.logs.write({ agent: "dev", level: 50, instanceId: "dev-bbbbbbbb", msg: "gave up again" });
  await shows({ "#log .line": 2, ".run-heading a:first-child": ["dev-abcdefgh", "dev-bbbbbbbb"] });
  // The filter is in the address: a reload and the way back from another page keep it.
  await expect.poll(() => page.url()).toBe(`${url}${logPath}?q=GAVE%20up&level=warn`);
  await page.reload();
  await shows({ "#log .line": 2 });
  await page.goto(`${url}/dashboard`);
  await page.goBack();
  await shows({ "#log .line": 2 });
  await expect
    .poll(() => page.getByLabel("Show only lines with this text").inputValue())
    .toBe("GAVE up");
  await page.getByLabel("Show only lines with this text").fill("");
  await page.getByLabel("Level").selectOption("");
  await shows({ "#log .line": 10, ".run-heading": 3 });
});

test("a log filter without a match says so", async () => {
  const { page, deps, shows } = await openWith(3);
  await shows({ "#log .line": 3 });
  await page.getByLabel("Show only lines with this text").fill("needle");
  await shows({ "#log-empty": "No matching lines.", "#connection": "Live" });
  deps.logs.write({ agent: "dev", msg: "a needle" });
  await shows({ "#log-empty": false });
});

test("a log filter marks its text, and unfolds the output with a match", async () => {
  const deps = testDeps();
  writeStory(deps);
  const { page, shows } = await openWith(0, deps);
  const filter = page.getByLabel("Show only lines with this text");
  const found = page.getByText("file 29");
  const marked = () =>
    page.evaluate(
      `[...(CSS.highlights.get("match") ?? [])].map(({ startContainer: node, startOffset, endOffset }) =>
        node.data.slice(startOffset, endOffset))`,
    );
  await shows({ "#log .line": 8 });
  await filter.fill("bash");
  await expect.poll(marked).toEqual(["bash", "bash", "bash", "bash"]);
  await filter.fill("File 29");
  await expect.poll(() => found.isVisible()).toBe(true);
  await expect.poll(marked).toEqual(["file 29"]);
  await filter.fill("");
  await expect.poll(() => found.isVisible()).toBe(false);
  await expect.poll(marked).toEqual([]);
});
