import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_585,
  "src/foundation": 221,
  "src/foundation/config": 4_849,
  "src/foundation/contracts": 2_767,
  "src/foundation/credentials": 1_697,
  "src/foundation/files": 527,
  "src/foundation/logs": 1_509,
  "src/foundation/scheduler": 361,
  "src/foundation/store": 4_019,
  "src/features/alerts": 3_742,
  "src/features/heartbeat": 283,
  "src/features/models": 520,
  "src/features/people": 634,
  "src/features/search": 1_651,
  "src/features/skills": 720,
  "src/features/spend": 1_869,
  "src/features/versions": 202,
  "src/features/webhooks": 2_761,
  "src/runtime/cluster": 4_920,
  "src/runtime/harness": 5_852,
  "src/runtime/run-api": 6_583,
  "src/runtime/runners": 5_301,
  "src/runtime/runs": 3_172,
  "src/interfaces/cli": 10_623,
  "src/interfaces/dashboard": 10_621,
  "src/interfaces/doctor": 2_193,
  "src/interfaces/gateway": 4_238,
  "src/interfaces/operations": 2_012,
  "src/interfaces/views": 448,
  "src/start": 1_695,
  test: 96_500,
} as const;

/** Files of a folder at any depth, without those of rooms inside it. */
function filesOf(folder: string): string[] {
  const inner = Object.keys(budgets).filter((room) => room.startsWith(`${folder}/`));
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).filter(
    (file) => !inner.some((room) => file.startsWith(`${room}/`)),
  );
}

function linesOf(files: readonly string[]): number {
  return files.reduce(
    (sum, file) => sum + readFileSync(join(root, file), "utf8").split("\n").length - 1,
    0,
  );
}

test.each(Object.entries(budgets))("%s has at most %i lines", (room, most) => {
  expect(linesOf(filesOf(room))).toBeLessThanOrEqual(most);
});

test("each TypeScript file of src, streams and test belongs to a room with a budget", () => {
  const counted = new Set(Object.keys(budgets).flatMap(filesOf));
  const files = globSync("{src,streams,test}/**/*.{ts,tsx}", { cwd: root });
  expect(files.filter((file) => !counted.has(file))).toEqual([]);
});
