import { expect, test } from "vitest";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

async function openWith(deps: ReturnType<typeof testDeps>) {
  const opened = await open("/dashboard/agents/dev/logs", deps);
  return { ...opened, rows: opened.page.locator("#log .line") };
}

type Fields = { readonly msg: string; readonly [name: string]: unknown };

test("what a command prints appears inside its call while it runs, and folds at its end", async () => {
  const deps = testDeps();
  const { page, rows } = await openWith(deps);
  const run = { agent: "dev", instanceId: "dev-abcdefgh", tool: "bash", call: "1" };
  const time = Date.now() - 3_000;
  const command = { command: "npm run build" };
  deps.logs.write({ ...run, time, kind: "tool", msg: "bash: npm run build", input: command });
  await expect.poll(() => page.locator(".elapsed").innerText()).toMatch(/^\d+(\.0)? s$/);
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
  expect(await page.locator(".elapsed").count()).toBe(0);
  expect(await block.innerText()).toBe("3 lines while it ran · 5.0 s");
  await page.locator("details.live summary").click();
  expect(await page.getByText("compiling b").isVisible()).toBe(true);
});

test("calls of two runs at once keep apart, and one whose run ended has no clock", async () => {
  const deps = testDeps();
  const { page, rows } = await openWith(deps);
  const line = (instanceId: string, fields: Fields): void =>
    deps.logs.write({ agent: "dev", instanceId, tool: "bash", call: "1", ...fields });
  for (const id of ["dev-a", "dev-b"]) {
    line(id, { kind: "tool", msg: "bash: make", time: Date.now() - 2_000 });
    line(id, { kind: "tool-output", msg: "bash still running", output: `${id} one\n` });
  }
  line("dev-a", { kind: "tool-output", msg: "bash still running", output: "a two\n" });
  await expect.poll(() => page.locator("details.live").first().innerText()).toContain("a two");
  expect(await rows.count()).toBe(4);
  expect(await page.locator(".elapsed").count()).toBe(2);
  line("dev-a", { kind: "run", msg: "run killed after 3 s", outcome: "killed" });
  await expect.poll(() => page.locator(".elapsed").count()).toBe(1);
  expect(await page.locator("details.live[open]").count()).toBe(1);
});
