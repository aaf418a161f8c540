import pc from "picocolors";
import { expect, test } from "vitest";
import { renderHistory } from "../../../src/cli/status/render-history.ts";
import type { HistoryEntry } from "../../../src/contracts/history.ts";

const now = Date.UTC(2026, 0, 5, 12);
const receiptId = "0198c0de-7a11-7000-8000-5ec0ffee0001";

const delivery: HistoryEntry = {
  ...{ id: "1", at: new Date(now).toISOString(), kind: "webhook", agent: "release-notes" },
  ...{ source: "github", event: "pull_request", action: "closed", receiptId, instanceId: null },
  ...{ outcome: null, deadLetter: false, reason: null, attempt: 1 },
  ...{ startedAt: null, endedAt: null, durationMs: null, exitCode: null },
  ...{ model: null, tokens: null, costUsd: null, callId: null, caller: null, value: null },
  calls: 0,
  replayOf: null,
  version: null,
};

function shown(entry: Partial<HistoryEntry>, columns: number): string[] {
  const style = { colors: pc.createColors(false), columns, now };
  return renderHistory([{ ...delivery, ...entry }], style).split("\n");
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
  expect(lines.slice(2)).toEqual(isShown ? [`  receipt ${receiptId}`] : []);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test.each([
  ["failed", ["  trigger 1"]],
  ["interrupted", ["  trigger 1"]],
  ["skipped", []],
  ["missed", []],
] as const)("a tick that was %s has below it: %j", (outcome, below) => {
  expect(shown({ kind: "cron", receiptId: null, outcome }, 80).slice(2)).toEqual(below);
});

test("a replay is named as one", () => {
  expect(shown({ replayOf: "0" }, 120).join("\n")).toContain("closed (replay)");
});
