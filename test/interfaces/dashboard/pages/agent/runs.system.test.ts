import { historyEntry } from "../../../../helpers/history-entry.ts";
import { sharedBrowser } from "../../open-page.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev";

test("an agent's last runs are a table and three charts, and are updated live", async () => {
  const deps = withDetail();
  const { entries } = deps.operations;
  const value = "a bug\u001b[2J\n  in <b>login</b>";
  const at = (ago: number): string => new Date(Date.now() - ago * 1000).toISOString();
  entries.push(
    historyEntry({ id: "a", at: at(300), durationMs: 4000, tokens: 1000, costUsd: 0.5, value }),
    historyEntry({ id: "b", at: at(200), durationMs: 8000, tokens: 3000, costUsd: 0.1 }),
    historyEntry({ id: "c", at: at(100), durationMs: 1000, outcome: "failed", reason: "exit 3" }),
    historyEntry({ id: "other", agent: "cat" }),
  );
  const { shows, press, called } = await open(path, deps);
  await shows({
    "#run-rows tr": 3,
    "#run-rows tr >> nth=0": /schedule\s+failed\s+exit 3\s+1\.0 s/,
    "#run-rows tr >> nth=-1 >> .run-result": "a bug in <b>login</b>",
  });
  await shows({
    "#charts svg@aria-label": [
      "Duration of the last runs: last 1.0 s, median 4.0 s · most 8.0 s",
      "Tokens of the last runs: last 1.2k, median 1.2k · most 3.0k",
      "Cost of the last runs: last $0.01, median $0.10 · most $0.50",
    ],
    "#charts svg >> nth=0 >> rect": 3,
    "#charts .scale >> nth=0": /^8\.0 s\s+0$/,
    "#charts .span >> nth=0 >> span": 2,
    "#charts svg >> nth=0 >> rect.error": 1,
  });

  const running = { startedAt: at(5), endedAt: null, durationMs: null, outcome: null } as const;
  entries.push(
    historyEntry({
      id: "d",
      instanceId: "dev-abcdefgh",
      at: at(5),
      tokens: null,
      costUsd: null,
      ...running,
    }),
  );
  deps.operations.setAgent({ name: "dev", running: 1, state: "running" });
  await shows({ "#run-rows tr": 4, "#run-rows tr >> nth=0": /running\s+\d\.\d s/ });
  await press("Kill the run dev-abcdefgh");
  expect(deps.operations.calls).not.toContain("killInstance dev-abcdefgh");
  await press("Really kill it?");
  await called("killInstance dev-abcdefgh");
});

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
