import pc from "picocolors";
import {
  renderHistory,
  entryRow,
  refusedRow,
  spanRow,
} from "../../../../src/interfaces/cli/status/render-history.ts";
import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";

const now = new Date(2026, 0, 5, 12).getTime();
const at = new Date(now).toISOString();
const receiptId = "0198c0de-7a11-7000-8000-5ec0ffee0001";
const instanceId = "a-rather-long-name-of-an-agent-k3v9q2xa";
const reason = "exit code 3: the tests of the branch did not pass";

/** A delivery whose run failed. */
const delivery = {
  id: "1",
  at,
  kind: "webhook",
  agent: "a-rather-long-name-of-an-agent",
  source: "github",
  event: "pull_request",
  action: "closed",
  receiptId,
  instanceId,
  outcome: "failed",
  durationMs: 3_400,
  reason,
} as const;
const short = { agent: "triage", instanceId: "triage-k3v9q2xa" };

function shown(entry: Partial<HistoryEntry>, columns: number | null): string[] {
  const style = { colors: pc.createColors(false), columns, now };
  const row = entryRow(historyEntry({ ...delivery, ...entry }), style);
  return renderHistory([row], style).split("\n");
}

const tick = { kind: "cron", receiptId: null } as const;

test("al history prints the ids that a replay needs below entries that did not succeed", async () => {
  const entries: readonly Partial<HistoryEntry>[] = [
    { outcome: "failed", replayOf: "0" },
    { outcome: "rejected" },
    { outcome: "succeeded" },
    { outcome: null },
    { ...tick, outcome: "failed" },
    { ...tick, outcome: "interrupted" },
    { ...tick, outcome: "skipped" },
    { ...tick, outcome: "missed" },
  ];
  const printed = entries.flatMap((entry) => shown({ ...short, ...entry }, 80));
  printed.push(...shown({}, null));
  await expect(`${printed.join("\n")}\n`).toMatchFileSnapshot("render-history.txt");
});

test.each([40, 60, 80, 100, 120])(
  "al history on a terminal of %i columns prints ids in full",
  (columns) => {
    const text = shown({}, columns).join("\n");
    for (const whole of [instanceId, `  receipt ${receiptId}`, "3.4 s"]) {
      expect(text).toContain(whole);
    }
  },
);

test.each([60, 80, 100, 120])("al history fits a terminal of %i columns", (columns) => {
  const lines = shown(short, columns);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});

test("al history shows refused deliveries as one row with a count at any width", () => {
  for (const columns of [40, 80, null]) {
    const style = { colors: pc.createColors(false), columns, now };
    const refused = {
      type: "github",
      source: "hub",
      result: "unverified",
      count: 1_200,
      firstAt: "2026-01-05T11:50:00.000Z",
      lastAt: at,
      reason: "wrong\nsignature",
    } as const;
    const rows = [refusedRow(refused, style), entryRow(historyEntry(delivery), style)];
    const text = renderHistory(rows, style);
    expect(text).toMatch(/webhook( hub|…) +refused[^]*1,200 times since/);
    if (columns === null) expect(text).toContain("the last: wrong signature");
  }
});

test("al history shows when a missed run was due, and a pause as one row with a count", () => {
  const style = { colors: pc.createColors(false), columns: null, now };
  const due = new Date(now - 3_600_000).toISOString();
  const missed = { id: "1", at, agent: "dev", instanceId: null, scheduledFor: due } as const;
  const entry = historyEntry({
    ...missed,
    outcome: "missed",
    reason: "no scheduler was running",
  });
  const span = { schedule: "", since: due, until: null, firstAt: due, count: 3, reason: "paused" };
  const text = renderHistory([entryRow(entry, style), spanRow(span, "dev", style)], style);
  expect(text).toMatch(/schedule for 11:00:00 +missed/);
  expect(text).toMatch(/schedule +skipped[^]*3 runs from 11:00:00 to now: paused/);
});
