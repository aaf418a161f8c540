import pc from "picocolors";
import {
  renderHistory,
  entryRow,
  refusedRow,
} from "../../../../src/interfaces/cli/status/render-history.ts";
import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";

const now = Date.UTC(2026, 0, 5, 12);
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

test.each<[Partial<HistoryEntry>, readonly string[]]>([
  [{ outcome: "failed" }, [`  receipt ${receiptId}`]],
  [{ outcome: "rejected" }, [`  receipt ${receiptId}`]],
  [{ outcome: "succeeded" }, []],
  [{ outcome: null }, []],
  [{ ...tick, outcome: "failed" }, ["  trigger 1"]],
  [{ ...tick, outcome: "interrupted" }, ["  trigger 1"]],
  [{ ...tick, outcome: "skipped" }, []],
  [{ ...tick, outcome: "missed" }, []],
])("al history prints below an entry with %j the lines %j", (entry, ids) => {
  const lines = shown({ ...short, ...entry }, 80);
  expect(lines.filter((line) => /^ {2}(receipt|trigger) /.test(line))).toEqual(ids);
});

test("al history marks replayed work", () =>
  expect(shown({ replayOf: "0" }, 120).join("\n")).toContain("closed (replay)"));

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

test("al history without a terminal prints an entry's fields in one line", () => {
  const [head, row, ...more] = shown({}, null);
  expect(more).toEqual([]);
  expect(head).toMatch(/^When +Agent +Trigger +Outcome +Duration +Instance +Replay +Reason$/);
  expect(row).toContain(`3.4 s     ${instanceId}  ${receiptId}  ${reason}`);
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
