import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const attack = `<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>`;
const at = (second: number) => new Date(Date.now() - 60_000 + second * 1000).toISOString();

/** A run by hand that called dev, which called back, and that waited for just this. */
function teamwork(dev: Partial<HistoryEntry> = {}): readonly HistoryEntry[] {
  const writer = { agent: "writer", instanceId: "writer-abcdefgh" };
  const call = { kind: "agent-call", startedAt: at(1) } as const;
  return [
    historyEntry({ id: "a", at: at(0), kind: "manual", ...writer, calls: 1, durationMs: 9_000 }),
    historyEntry({
      ...call,
      id: "b",
      at: at(1),
      instanceId: "dev-abcdefgh",
      callId: "call-b",
      calls: 1,
      source: "writer",
      caller: "writer-abcdefgh",
      value: { words: 5, text: attack },
      durationMs: 4_200,
      ...dev,
    }),
    historyEntry({
      ...call,
      id: "c",
      at: at(2),
      ...writer,
      callId: "call-c",
      startedAt: null,
      source: "dev",
      caller: "dev-abcdefgh",
      durationMs: null,
      reason: "taken by writer-abcdefgh, which waited for it",
    }),
  ];
}

function withCalls(entries = teamwork()) {
  const deps = testDeps();
  const { operations } = deps;
  operations.setAgent({ name: "writer" });
  operations.entries.push(...entries);
  const [a, b, c] = entries;
  const value = { words: 5, text: attack, more: "x".repeat(400) };
  if (a) operations.trees.set(a.id, { context: null, value: null, entries: [...entries] });
  if (b) operations.trees.set(b.id, { context: attack, value, entries: [...entries] });
  if (c) operations.trees.set(c.id, { context: "{}", value: null, entries: [...entries] });
  return deps;
}

test("a call in the history shows its caller, prompt, result, and the tree around it", async () => {
  const { page, errors } = await open("/dashboard/triggers", withCalls());
  const row = page.locator("tr[data-entry=b]");
  await expect.poll(() => row.innerText()).toContain("call from writer-abcdefgh");
  const caller = row.getByRole("link", { name: "writer-abcdefgh" });
  expect(await caller.getAttribute("href")).toBe("/dashboard/agents/writer/runs/writer-abcdefgh");
  expect(await page.locator("tr[data-entry=c]").innerText()).toContain("taken by writer-abcdefgh");
  await row.getByRole("button", { name: /^Details of the call from writer/ }).click();
  const details = page.locator(".details");
  await expect.poll(() => details.innerText()).toContain("Calls (2 calls)");
  expect(await page.getByRole("group", { name: "Context" }).innerText()).toBe(attack);
  const returned = page.getByRole("group", { name: "Returned" });
  expect(await returned.isVisible()).toBe(false);
  await page.getByText("Returned").click();
  await expect.poll(() => returned.innerText()).toContain(`"text": ${JSON.stringify(attack)}`);
  const lines = (await page.locator(".call-line").allInnerTexts()).map((text) =>
    text.replace(/\s+/g, " "),
  );
  expect(lines).toEqual([
    "writer-abcdefgh succeeded 9.0 s · manual",
    "dev-abcdefgh succeeded 4.2 s",
    "writer succeeded taken by writer-abcdefgh, which waited for it",
  ]);
  await expect
    .poll(() => page.locator(".call-tree .call-tree .call-tree .call-line").count())
    .toBe(1);
  await expect
    .poll(() => page.locator("[aria-current=true]").innerText())
    .toContain("dev-abcdefgh");
  await page.setViewportSize({ width: 360, height: 700 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("an unfolded tree shows the current state of its calls", async () => {
  const running = { outcome: null, endedAt: null, durationMs: null } as const;
  const deps = withCalls(teamwork(running));
  const { page } = await open("/dashboard/triggers", deps);
  await page.locator("tr[data-entry=b]").getByRole("button").click();
  const current = page.locator(".call-line[aria-current]");
  await expect.poll(() => current.innerText()).toContain("running");
  const entries = teamwork({ outcome: "failed", reason: "it broke" });
  deps.operations.entries.splice(0, 3, ...entries);
  deps.operations.trees.set("b", { context: null, value: null, entries: [...entries] });
  deps.operations.emit({ changed: ["triggers"] });
  await expect.poll(() => current.innerText()).toMatch(/failed\s*4\.2 s · it broke/);
});

test("an agent's last runs show the calls that they made and that started them", async () => {
  const { page, errors } = await open("/dashboard/agents/dev", withCalls());
  const run = page.locator("#run-rows tr").first();
  await expect.poll(() => run.innerText()).toContain("call from writer-abcdefgh");
  const calls = page.getByRole("button", { name: "1 call of the run dev-abcdefgh" });
  await calls.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".call-line").count()).toBe(3);
  await page.setViewportSize({ width: 360, height: 700 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".call-line").count()).toBe(0);
  await expect.poll(() => calls.getAttribute("aria-expanded")).toBe("false");
  expect(errors).toEqual([]);
});
