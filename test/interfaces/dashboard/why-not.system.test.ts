import type { TurnedAway, WhyNot } from "../../../src/foundation/contracts/refused-deliveries.ts";
import { agentStatus } from "../../helpers/fake-snapshot.ts";
import { emptyWhyNot } from "../../helpers/empty-why-not.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev?tab=why";
const attack = `<img src=x onerror="window.hacked=true">`;
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

function skipped(id: string, minutes: number) {
  const notStarted = { startedAt: null, endedAt: null, durationMs: null, instanceId: null };
  const end = { outcome: "skipped", reason: "all runners are busy" } as const;
  return historyEntry({ id, at: ago(minutes), ...end, ...notStarted });
}

function turnedAway(minutes: number): TurnedAway {
  const stoppedBy = [[{ condition: "repos", wanted: "acme/x", got: attack }]];
  const event = { source: "hub", event: "issues", action: "opened" };
  return { receiptId: `r${minutes}`, at: ago(minutes), ...event, stoppedBy };
}

function withWhyNot(why: Partial<WhyNot>) {
  const deps = testDeps();
  deps.operations.setAgent(agentStatus({ name: "dev" }));
  deps.operations.whyNots.set("dev", { ...emptyWhyNot, ...why });
  return deps;
}

test("an agent's page shows why it did not run: now, by its own work, filters and sources", async () => {
  const refused = { type: "github", source: "hub", result: "unverified", count: 4 } as const;
  const times = { firstAt: ago(70), lastAt: ago(61), reason: "wrong signature" };
  const deps = withWhyNot({
    now: ["It is disabled: al resume dev enables it."],
    refused: [skipped("b", 20), skipped("a", 90)],
    turnedAway: [turnedAway(5), turnedAway(6), turnedAway(7)],
    refusedDeliveries: [{ ...refused, ...times }],
    lookedBackTo: "2026-01-05T12:00:00.000Z",
  });
  const { page, errors } = await open(path, deps);
  const items = page.locator("#why-list li");
  await expect.poll(() => items.count()).toBe(3);
  const texts = (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  expect(texts).toEqual([
    `turned away webhook issues opened repos: wants acme/x, got ${attack} 3 times · last 5 min ago`,
    "skipped schedule The tick was skipped: all runners are busy 2 times · last 20 min ago",
    "refused webhook hub wrong signature 4 times · last 1 h ago",
  ]);
  expect(await page.locator("#why-now").innerText()).toContain("It is disabled");
  expect(await page.locator("#why-note").innerText()).toMatch(
    /^older deliveries .* not looked at$/,
  );
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  await page.setViewportSize({ width: 375, height: 700 });
  const overflow = "document.documentElement.scrollWidth - innerWidth";
  expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
  expect(errors).toEqual([]);
});

test("an agent that was free to run shows that, and new reasons appear", async () => {
  const deps = withWhyNot({});
  const { page } = await open(path, deps);
  const note = page.locator("#why-note");
  await expect
    .poll(() => note.innerText())
    .toBe("Nothing kept it from running in the last 7 days.");
  deps.operations.whyNots.set("dev", { ...emptyWhyNot, refused: [skipped("a", 1)] });
  deps.operations.setAgent({ name: "dev" });
  await expect.poll(() => page.locator("#why-list").innerText()).toContain("all runners are busy");
  expect(await note.isVisible()).toBe(false);
});
