import { historyEntry } from "../../../../helpers/history-entry.ts";
import { sharedBrowser } from "../../open-page.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev";

test("charts of runs are empty before a run ended", async () => {
  const deps = withDetail();
  const ongoing = { outcome: null, endedAt: null, durationMs: null } as const;
  deps.operations.entries.push(historyEntry({ id: "a", ...ongoing }));
  const { shows } = await open(path, deps);
  await shows({ "#run-rows tr": 1, "#charts": false });
});

test("runs of an agent are listed by start, and a queued one moves up when it starts", async () => {
  const deps = withDetail();
  const at = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
  const ongoing = { outcome: null, endedAt: null, durationMs: null } as const;
  const queued = { ...ongoing, startedAt: null, instanceId: null };
  deps.operations.entries.push(
    historyEntry({ id: "late", at: at(4000), startedAt: at(301) }),
    historyEntry({ id: "early", at: at(3900), startedAt: at(3601) }),
    historyEntry({ id: "next", at: at(3800), ...queued }),
  );
  const { page, shows, called } = await open(path, deps);
  const rows = page.locator("#run-rows tr");
  await shows({
    "#run-rows tr": [/\d\d:\d\d\s/, /\d\d:\d\d\s/, expect.stringContaining("queued")],
  });
  const distances = () =>
    rows
      .locator("time")
      .evaluateAll((all) => all.map((time) => time.getAttribute("title")?.replace(/,.*/, "")));
  await expect.poll(distances).toEqual(["5 min ago", "1 h ago", "1 h ago"]);
  await shows({ "#run-rows tr >> nth=-1 >> .entry-run a": 0 });
  const entry = historyEntry({
    id: "next",
    at: at(3800),
    ...ongoing,
    startedAt: at(1),
    instanceId: "dev-abcdefgh",
  });
  deps.operations.entries[2] = entry;
  deps.operations.setAgent({ name: "dev", running: 1, state: "running" });
  await shows({
    "#run-rows tr >> nth=0": /running/,
    "#run-rows tr": 3,
    "#run-rows tr >> nth=0 >> .entry-run a": 1,
  });
  await rows.first().getByRole("button", { name: "Kill the run dev-abcdefgh" }).click();
  await rows.first().getByRole("button", { name: "Really kill it?" }).click();
  await called("killInstance dev-abcdefgh");
});

test("a run's duration counts up, and shows its day after midnight", async () => {
  const deps = withDetail();
  const startedAt = new Date().toISOString();
  deps.operations.entries.push(historyEntry({ id: "a", at: startedAt, startedAt }));
  const { page, shows } = await open(path, deps);
  await page.clock.install();
  await page.reload();
  await shows({ "#run-rows time@title": /^(now|\d+ s ago), / });
  await page.clock.fastForward(5 * 60_000);
  await shows({ "#run-rows time@title": /^[56] min ago, / });
  await page.clock.fastForward(24 * 3_600_000);
  await shows({ "#run-rows time": /^\w{3}, \w{3} \d+, \d\d:\d\d$/ });
});
