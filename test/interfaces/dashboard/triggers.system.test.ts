import { UserError } from "../../../src/foundation/errors.ts";
import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/triggers";
const receiptId = "0190aaaa-0000-7000-8000-000000000001";
const attack = `<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>`;

const notStarted = { startedAt: null, endedAt: null, durationMs: null, instanceId: null } as const;

/** A webhook that no agent was for. */
function deadLetter(entry: Partial<HistoryEntry> = {}): HistoryEntry {
  return historyEntry({
    id: "dead",
    kind: "webhook",
    source: "hub",
    event: "issues",
    action: "opened",
    agent: null,
    receiptId,
    outcome: "rejected",
    deadLetter: true,
    ...notStarted,
    reason: "agent dev: actions must have one of closed, it has opened",
    ...entry,
  });
}

function withEntries(...entries: readonly HistoryEntry[]) {
  const deps = testDeps();
  deps.operations.entries.push(...entries);
  deps.operations.receipts.set(receiptId, {
    receiptId,
    at: new Date().toISOString(),
    source: "hub",
    type: "github",
    bytes: 2048,
    deliveryId: "d-1",
    headers: { "x-github-event": "issues" },
    text: null,
    matched: ["dev"],
    reason: null,
    payload: { action: "opened", issue: { number: 3, title: attack } },
  });
  return deps;
}

function manyRuns(count: number): HistoryEntry[] {
  return Array.from({ length: count }, (_, index) =>
    historyEntry({
      id: `run-${String(index).padStart(4, "0")}`,
      at: new Date(Date.now() - (count - index) * 1000).toISOString(),
      agent: index % 2 === 0 ? "dev" : "cat",
    }),
  );
}

test("work that started nothing shows why, in plain words", async () => {
  const at = new Date().toISOString();
  const what = { agent: "dev", outcome: "dropped", reason: "queue_full" } as const;
  const dropped = deadLetter({ id: "x", at, ...what });
  const { page, errors } = await open(path, withEntries(deadLetter({ at }), dropped));
  const rows = page.locator("#trigger-rows tr");
  await expect.poll(() => rows.count()).toBe(2);
  const text = await page.locator("#trigger-rows").innerText();
  expect(text).toContain("No agent ran: agent dev: actions must have one of closed, it has opened");
  expect(text).toContain("The work was dropped: the agent's queue was full");
  expect(text).toMatch(/webhook issues opened/);
  expect(await rows.locator(".outcome").allInnerTexts()).toEqual(["dropped", "unmatched"]);
  const words = ["Any", "schedule", "webhook", "call", "manual"];
  expect(await page.locator("select[name=kind] option").allInnerTexts()).toEqual(words);
  expect(errors).toEqual([]);
});

test("pages lead to older and newer ones, also by the browser's own buttons", async () => {
  const { page } = await open(path, withEntries(...manyRuns(120)));
  const first = page.locator("#trigger-rows tr").first();
  const firstIs = (id: string) => expect.poll(() => first.getAttribute("data-entry")).toBe(id);
  await firstIs("run-0119");
  expect(await page.locator("#total").innerText()).toBe("120 triggers");
  expect(await page.locator("#newer").getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "Older →" }).click();
  await firstIs("run-0069");
  await page.getByRole("button", { name: "Older →" }).click();
  await firstIs("run-0019");
  await expect.poll(() => page.locator("#older").getAttribute("aria-disabled")).toBe("true");
  await page.getByRole("button", { name: "← Newer" }).click();
  await firstIs("run-0069");
  await page.goBack();
  await firstIs("run-0019");
  await page.getByRole("button", { name: "Newest" }).click();
  await firstIs("run-0119");
  await page.reload();
  await firstIs("run-0119");
});

test("filters narrow the history, are in the address, and can be cleared", async () => {
  const { page, deps } = await open(path, withEntries(...manyRuns(6), deadLetter()));
  const rows = page.locator("#trigger-rows tr");
  await expect.poll(() => rows.count()).toBe(7);
  expect(await page.locator("#pager").isVisible()).toBe(false);
  await page.getByLabel("Dead letters only").check();
  await expect.poll(() => rows.count()).toBe(1);
  expect(page.url()).toContain("dead=true");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => rows.count()).toBe(7);
  await page.getByRole("combobox", { name: "Agent" }).fill("cat");
  await page.keyboard.press("Enter");
  await expect.poll(() => rows.count()).toBe(3);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(3);
  expect(await page.getByRole("combobox", { name: "Agent" }).inputValue()).toBe("cat");
  await page.getByLabel("Outcome").selectOption("timed_out");
  await expect.poll(() => page.locator("#none").innerText()).toContain("match these filters");
  await page.getByLabel("Time").selectOption("24");
  await expect
    .poll(() => deps.operations.calls.at(-1))
    .toMatch(/"agentPart":"cat","outcome":"timed_out","since":"\d{4}-/);
});

test("a stored delivery is pretty-printed, and markup in it is shown, not run", async () => {
  const { page, errors } = await open(path, withEntries(deadLetter({ reason: attack })));
  await page.getByRole("button", { name: /^Details of the webhook/ }).click();
  const payload = page.getByRole("group", { name: "Payload" });
  await expect.poll(() => payload.innerText()).toContain('"number": 3');
  expect(await payload.innerText()).toContain(JSON.stringify(attack));
  expect(await page.locator(".details").innerText()).toContain("github · source hub · 2.0 KiB");
  expect(await page.locator(".details").innerText()).toContain("It was for dev.");
  await page.getByText("Headers").click();
  await expect.poll(() => page.locator(".details").innerText()).toContain("x-github-event: issues");
  await expect.poll(() => page.locator("main img, main script").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("a delivery is replayed to all that match, or to its agent", async () => {
  const { page, deps } = await open(path, withEntries(deadLetter({ agent: "dev" })));
  await page.getByRole("button", { name: /^Details of the webhook/ }).click();
  await page.getByRole("button", { name: "Replay to dev" }).click();
  await expect.poll(() => deps.operations.calls).toContain(`replay ${receiptId} dev`);
  await expect.poll(() => page.locator(".replayed").innerText()).toContain("Replayed: dev");
  await page.getByRole("button", { name: "Replay to all that match" }).click();
  await expect.poll(() => deps.operations.calls).toContain(`replay ${receiptId} null`);
  deps.operations.refusal = new UserError("disabled", "dev is disabled");
  await page.getByRole("button", { name: "Replay to dev" }).click();
  await expect.poll(() => page.locator(".toast").innerText()).toContain("dev is disabled");
  deps.operations.receipts.clear();
  await page.reload();
  await expect.poll(() => page.locator(".delivery").innerText()).toContain("no receipt");
});

test("work without a webhook is replayed by its entry, and a replay names its original", async () => {
  const entry = historyEntry({ id: "cron-1", outcome: "interrupted", replayOf: "cron-0" });
  const { page, deps } = await open(path, withEntries(entry));
  await expect.poll(() => page.locator(".outcome.interrupted").count()).toBe(1);
  await page.getByRole("button", { name: /^Details of the schedule \(replay\)/ }).click();
  await expect.poll(() => page.locator(".entry-facts").innerText()).toContain("cron-0");
  await page.getByRole("button", { name: "Replay to dev" }).click();
  await expect.poll(() => deps.operations.calls).toContain("replayTrigger cron-1");
  await expect.poll(() => page.locator(".replayed").innerText()).toContain("dev was started");
});

test("rows on the page follow their work; new rows appear on request only", async () => {
  const ongoing = { outcome: null, endedAt: null, durationMs: null } as const;
  const queued = { ...ongoing, startedAt: null, instanceId: null };
  const deps = withEntries(historyEntry({ id: "a", ...queued }));
  const { page } = await open(path, deps);
  const rows = page.locator("#trigger-rows tr");
  const link = rows.first().locator(".entry-run a");
  await expect.poll(() => rows.first().innerText()).toContain("queued");
  expect(await link.count()).toBe(0);
  const { entries } = deps.operations;
  entries[0] = historyEntry({ id: "a", ...ongoing });
  deps.operations.emit({ changed: ["triggers"] });
  await expect.poll(() => rows.first().innerText()).toMatch(/running\s+\d+(\.\d)? m?s/);
  expect(await link.getAttribute("href")).toBe("/dashboard/agents/dev/runs/dev-a");
  entries[0] = historyEntry({ id: "a", outcome: "failed", reason: "exit code 3" });
  const at = new Date(Date.now() + 1000).toISOString();
  entries.push(historyEntry({ id: "b", at }));
  deps.operations.emit({ changed: ["triggers"] });
  await expect.poll(() => rows.first().innerText()).toContain("exit code 3");
  expect(await rows.count()).toBe(1);
  await page.getByRole("button", { name: "Show 1 new trigger" }).click();
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.locator("#show-new").isVisible()).toBe(false);
});

test("a long name is cut, so that times stay on one line", async () => {
  const agent = "an-agent-with-".padEnd(64, "long-name-");
  const reason = "the work was given up, as the model answered nothing for longer than it may";
  const { page } = await open(
    path,
    withEntries(
      historyEntry({ id: "a", agent, durationMs: 61_000, outcome: "failed", reason }),
      historyEntry({ id: "b" }),
    ),
  );
  const row = page.locator("#trigger-rows tr", { hasText: "1 min 01 s" });
  await expect.poll(() => row.count()).toBe(1);
  expect(await row.locator(".cut-name").getAttribute("title")).toBe(agent);
  expect((await row.locator(".cut-name").boundingBox())?.width).toBeLessThan(250);
  expect((await row.locator("td .number").boundingBox())?.height).toBeLessThan(25);
});

test("an empty history names its future content", async () => {
  const { page, deps } = await open(path);
  await expect.poll(() => page.locator("#none").innerText()).toContain("Nothing has triggered");
  deps.operations.entries.push(historyEntry({ id: "a" }));
  deps.operations.emit({ changed: ["triggers"] });
  await expect.poll(() => page.locator("#trigger-rows tr").count()).toBe(1);
});

test("a filter set while the scheduler is away is applied when it is back", async () => {
  const { page } = await open(path, withEntries(...manyRuns(4)));
  const rows = page.locator("#trigger-rows tr");
  await page.waitForSelector("body[data-connection=live]");
  await expect.poll(() => rows.count()).toBe(4);
  await page.context().setOffline(true);
  await page.getByRole("combobox", { name: "Agent" }).fill("cat");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.getByText("Try again").locator("..").innerText())
    .toContain("does not answer");
  await page.context().setOffline(false);
  await expect.poll(() => rows.count()).toBe(2);
});

test("refused deliveries and duplicates are counted, and listed by time", async () => {
  const deps = withEntries(deadLetter());
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const row = { type: "github", firstAt: at(9) } as const;
  const { page, errors } = await open(path, deps);
  await expect.poll(() => page.locator("#trigger-rows tr").count()).toBe(1);
  expect(await page.locator("#refused").isVisible()).toBe(false);
  deps.operations.refusedNow.push(
    { ...row, source: "hub", result: "unverified", count: 1_200, lastAt: at(1), reason: attack },
    { ...row, source: null, result: "duplicate", count: 1, lastAt: at(8), reason: "came before" },
  );
  deps.operations.emit({ changed: ["triggers"] });
  const summary = page.locator("#refused-summary");
  await expect
    .poll(() => summary.innerText())
    .toBe("Deliveries in the last day: 1,200 refused, 1 duplicate");
  await summary.click();
  const rows = async (): Promise<string[]> =>
    (await page.locator("#refused-list li").allInnerTexts()).map((row) => row.replace(/\s+/g, " "));
  await expect
    .poll(rows)
    .toEqual([
      `hub refused 1,200 times 1 min ago ${attack}`,
      "github duplicate once 8 min ago came before",
    ]);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  await page.setViewportSize({ width: 375, height: 700 });
  const overflow = "document.documentElement.scrollWidth - innerWidth";
  expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
  expect(errors).toEqual([]);
});
