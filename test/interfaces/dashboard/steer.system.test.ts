import type { InboxView, RunView } from "../../../src/interfaces/views/run-view.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const instance = "dev-abcdefgh";
const path = `/dashboard/agents/dev/runs/${instance}`;
const message: InboxView = {
  seq: 1,
  kind: "steer",
  text: "Be <b>brief</b>.",
  receivedAt: null,
  continuedBy: null,
  at: "2026-11-22T12:00:00.000Z",
  by: { via: "key", name: "", from: null },
};

async function pageOf(run: Partial<RunView>) {
  const deps = testDeps();
  deps.operations.runs.set(instance, aRunView(instance, run));
  const { page } = await open(path, deps);
  await page.waitForSelector("body[data-connection=live]");
  return { page, calls: deps.operations.calls };
}

const running = { outcome: null, endedAt: null, durationMs: null, exitCode: null } as const;

test("a person sends a run a message, and stops it after its turn", async () => {
  const { page, calls } = await pageOf({ ...running, messages: [message] });
  await page.setViewportSize({ width: 375, height: 800 });
  await expect
    .poll(() => page.locator("#messages").innerText())
    .toMatch(/Be <b>brief<\/b>\.\s+the API key, .* · not received yet/);
  await page.getByLabel("Tell the agent …").fill("Leave the logs alone.");
  await page.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => calls).toContain(`steer ${instance} Leave the logs alone.`);
  await expect.poll(() => page.locator("#steer-text").inputValue()).toBe("");
  await page.getByRole("button", { name: "Stop after this turn" }).click();
  await expect.poll(() => calls).toContain(`steer ${instance} stop`);
});

test("a run that takes no message says why", async () => {
  const noInput = { steer: "codex takes no message", stop: "codex takes no message" };
  const { page } = await pageOf({ ...running, noInput });
  expect(await page.locator("#people").innerText()).toContain("codex takes no message");
  expect(await page.locator("#steer").count()).toBe(0);
});

test("a person continues the session of a run that has ended, and sees the runs before and after it", async () => {
  const after = { ...message, seq: 2, kind: "continue", continuedBy: "dev-bbbbbbbb" } as const;
  const { page, calls } = await pageOf({
    isKept: true,
    continues: "dev-aaaaaaaa",
    messages: [after],
  });
  const linked = async (at: string) => page.locator(at).getAttribute("href");
  expect(await linked("#continues a")).toBe("/dashboard/agents/dev/runs/dev-aaaaaaaa");
  expect(await linked("#messages a")).toBe("/dashboard/agents/dev/runs/dev-bbbbbbbb");
  await page.getByLabel("Continue its session …").fill("Now open the pull request.");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect.poll(() => calls).toContain(`continue ${instance} Now open the pull request.`);
  await page.waitForURL(/dev-zyxwvuts/);
});
