import { Problem } from "../../../../../src/foundation/errors.ts";
import type { HistoryEntry } from "../../../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../../../helpers/history-entry.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { untilLive } from "../../shows.ts";
import { aDeadLetter, addReceipt, ago, ongoing, receiptId } from "../../page-states.ts";

const open = sharedBrowser();
const path = "/dashboard/triggers";
const rows = "#trigger-rows tr";
const firstRow = `${rows} >> nth=0`;

function withEntries(...entries: readonly HistoryEntry[]) {
  const deps = testDeps();
  deps.operations.entries.push(...entries);
  addReceipt(deps);
  return deps;
}

function manyRuns(count: number): HistoryEntry[] {
  return Array.from({ length: count }, (_, index) =>
    historyEntry({
      id: `run-${String(index).padStart(4, "0")}`,
      at: ago(count - index),
      agent: index % 2 === 0 ? "report-web" : "report-cat",
    }),
  );
}

test("filters of the triggers are in the address, and can be cleared", async () => {
  const { page, deps, shows, press } = await open(path, withEntries(...manyRuns(6), aDeadLetter()));
  const agent = page.getByRole("combobox", { name: "Agent" });
  await shows({ [rows]: 7 });
  await page.getByLabel("Dead letters only").check();
  await page.waitForURL(/dead=true/);
  await shows({ [rows]: 1 });
  await press("Clear filters");
  await shows({ [rows]: 7 });
  // A part of a name is enough, as one types.
  await agent.pressSequentially("ca");
  await shows({ [rows]: 3 });
  await agent.pressSequentially("t");
  await page.waitForURL(/agent=cat/);
  await shows({ [rows]: 3, ":focus@value": "cat" });
  await page.reload();
  await shows({ [rows]: 3 });
  await expect.poll(() => agent.inputValue()).toBe("cat");
  await page.getByLabel("Outcome").selectOption("timed_out");
  await shows({ "#trigger-rows-none": /match these filters/ });
  await page.getByLabel("Time").selectOption("24");
  await expect
    .poll(() => deps.operations.calls.at(-1))
    .toMatch(/"agentPart":"cat","outcome":"timed_out","since":"\d{4}-/);
});

test("a filter set while the scheduler is away is applied when it is back", async () => {
  const { page, shows } = await open(path, withEntries(...manyRuns(4)));
  await untilLive(page);
  await page.context().setOffline(true);
  await page.getByRole("combobox", { name: "Agent" }).fill("cat");
  await page.keyboard.press("Enter");
  await shows({ ":has(> :text('Try again')) >> nth=-1": /does not answer/ });
  await page.context().setOffline(false);
  await shows({ [rows]: 2 });
});

test("an opened trigger has an address of its own, which opens it wherever it is in the history", async () => {
  const { page, url, shows, press } = await open(path, withEntries(...manyRuns(120)));
  await page
    .getByRole("button", { name: /^Details of the/ })
    .nth(1)
    .click();
  await page.waitForURL(`${url}${path}?entry=run-0118`);
  await page.goto(`${url}${path}?entry=run-0003`);
  await shows({ ".details-row": /run-0003/, "#trigger-rows > tr >> nth=0@data-entry": "run-0003" });
  await press(/^Hide of the/);
  await page.waitForURL(url + path);
  await page.goto(`${url}${path}?entry=gone`);
  await shows({ "#trigger-rows > tr": 50 });
});

test("a delivery is replayed to all that match, or to its agent", async () => {
  const { page, deps, shows, press, called } = await open(
    path,
    withEntries(aDeadLetter({ agent: "dev" })),
  );
  await press(/^Details of the webhook/);
  await press("Replay to dev");
  await called(`replay ${receiptId} dev`);
  await shows({ ".replayed": /Replayed: dev/ });
  await press("Replay to all that match");
  await called(`replay ${receiptId} null`);
  deps.operations.refusal = new Problem("disabled", "dev is disabled");
  await press("Replay to dev");
  await shows({ ".toast": /dev is disabled/ });
  deps.operations.receipts.clear();
  await page.reload();
  await shows({ ".delivery": /no receipt/ });
});

test("work without a webhook is replayed by its entry, and a replay names its original", async () => {
  const entry = historyEntry({ id: "cron-1", outcome: "interrupted", replayOf: "cron-0" });
  const { shows, press, called } = await open(path, withEntries(entry));
  await press(/^Details of the schedule \(replay\)/);
  await shows({ ".entry-facts": /cron-0/ });
  await press("Replay to dev");
  await called("replayTrigger cron-1");
  await shows({ ".replayed": /dev was started/ });
});

test("rows of triggers follow their work; new rows appear on request, the first ones by themselves", async () => {
  const deps = testDeps();
  const { entries } = deps.operations;
  const { shows, press } = await open(path, deps);
  const link = `${firstRow} >> .entry-run a`;
  await shows({ [rows]: 0 });
  const change = (...now: HistoryEntry[]): void => {
    entries.splice(0, entries.length, ...now);
    deps.operations.emit({ changed: ["triggers"] });
  };
  change(historyEntry({ id: "a", startedAt: null, instanceId: null, ...ongoing }));
  await shows({ [firstRow]: /queued/, [link]: 0 });
  change(historyEntry({ id: "a", ...ongoing }));
  await shows({
    [firstRow]: /running\s+\d+(\.\d)? m?s/,
    [`${link}@href`]: "/dashboard/agents/dev/runs/dev-a",
  });
  const ended = historyEntry({ id: "a", outcome: "failed", reason: "exit code 3" });
  change(ended, historyEntry({ id: "b", at: ago(-1) }));
  await shows({ [firstRow]: /exit code 3/, [rows]: 1 });
  await press("Show 1 new trigger");
  await shows({ [rows]: 2, "#show-new": false });
});

test("a long agent name is cut, so that times stay on one line", async () => {
  const agent = "an-agent-with-".padEnd(64, "long-name-");
  const reason = "the work was given up, as the model answered nothing for longer than it may";
  const entry = { id: "a", agent, durationMs: 61_000, outcome: "failed", reason } as const;
  const { page, shows } = await open(path, withEntries(historyEntry(entry)));
  await shows({ ".cut-name@title": agent, [rows]: /1 min 01 s/ });
  await expect
    .poll(async () => (await page.locator(".cut-name").boundingBox())?.width)
    .toBeLessThan(250);
  await expect
    .poll(async () => (await page.locator(`${rows} td .number`).boundingBox())?.height)
    .toBeLessThan(25);
});
