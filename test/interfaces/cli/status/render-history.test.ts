import pc from "picocolors";
import {
  renderHistory,
  entryRow,
  refusedRow,
} from "../../../../src/interfaces/cli/status/render-history.ts";
import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";

const now = Date.UTC(2026, 0, 5, 12);
const receiptId = "0198c0de-7a11-7000-8000-5ec0ffee0001";

const delivery: HistoryEntry = {
  id: "1",
  at: new Date(now).toISOString(),
  kind: "webhook",
  agent: "release-notes",
  source: "github",
  event: "pull_request",
  action: "closed",
  receiptId,
  instanceId: null,
  outcome: null,
  deadLetter: false,
  reason: null,
  attempt: 1,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  exitCode: null,
  model: null,
  tokens: null,
  costUsd: null,
  callId: null,
  caller: null,
  value: null,
  calls: 0,
  replayOf: null,
  version: null,
};

function shown(entry: Partial<HistoryEntry>, columns: number | null): string[] {
  const style = { colors: pc.createColors(false), columns, now };
  return renderHistory([entryRow({ ...delivery, ...entry }, style)], style).split("\n");
}

test.each([
  ["failed", true],
  ["rejected", true],
  ["succeeded", false],
  ["running", false],
] as const)("a delivery that %s has its receipt below it: %s", (end, isShown) => {
  const outcome = end === "running" ? null : end;
  const reason = "agent release-notes: branches does not include main";
  const lines = shown({ outcome, startedAt: delivery.at, durationMs: 12_000, reason }, 80);
  const ids = lines.filter((line) => line.startsWith("  receipt"));
  expect(ids).toEqual(isShown ? [`  receipt ${receiptId}`] : []);
  expect(lines).toContain(`  12 s  ${reason}`);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test.each([
  ["failed", ["  trigger 1"]],
  ["interrupted", ["  trigger 1"]],
  ["skipped", []],
  ["missed", []],
] as const)("below a tick that was %s is shown: %j", (outcome, below) => {
  expect(shown({ kind: "cron", receiptId: null, outcome }, 80).slice(2)).toEqual(below);
});

test("a replay is marked as one", () =>
  expect(shown({ replayOf: "0" }, 120).join("\n")).toContain("closed (replay)"));

const failed: Partial<HistoryEntry> = {
  outcome: "failed",
  agent: "a-rather-long-name-of-an-agent",
  startedAt: delivery.at,
  instanceId: "a-rather-long-name-of-an-agent-k3v9q2xa",
  durationMs: 3_400,
  reason: "exit code 3: the tests of the branch did not pass",
};

test.each([40, 60, 80, 100, 120])("on a terminal of %i columns no id is cut", (columns) => {
  const text = shown(failed, columns).join("\n");
  expect(text).toContain("a-rather-long-name-of-an-agent-k3v9q2xa");
  expect(text).toContain(`  receipt ${receiptId}`);
  expect(text).toContain("3.4 s");
});

test.each([60, 80, 100, 120])("a row fits %i columns", (columns) => {
  const entry = { ...failed, agent: "triage", instanceId: "triage-k3v9q2xa" };
  const lines = shown(entry, columns);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});

test("off a terminal an entry is one line, with everything it has", () => {
  const [head, row, ...more] = shown(failed, null);
  expect(more).toEqual([]);
  expect(head).toMatch(/^When +Agent +Trigger +Outcome +Duration +Instance +Replay +Reason$/);
  expect(row).toContain(`3.4 s     ${failed.instanceId ?? ""}  ${receiptId}  exit code 3: the`);
});

test.each([40, 80, null])(
  "refused deliveries are a row with their count, at %s columns",
  (columns) => {
    const style = { colors: pc.createColors(false), columns, now };
    const refused = refusedRow(
      {
        type: "github",
        source: "hub",
        result: "unverified",
        count: 1_200,
        firstAt: "2026-01-05T11:50:00.000Z",
        lastAt: delivery.at,
        reason: "wrong\nsignature",
      },
      style,
    );
    const text = renderHistory([refused, entryRow(delivery, style)], style);
    expect(text).toMatch(/webhook hub|webhook…/);
    expect(text).toContain("refused");
    expect(text).toContain("1,200 times since");
    if (columns === null) expect(text).toContain("the last: wrong signature");
  },
);
