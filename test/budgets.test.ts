import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_387,
  "src/foundation": 211,
  "src/foundation/config": 4_660,
  "src/foundation/contracts": 2_357,
  "src/foundation/credentials": 1_678,
  "src/foundation/files": 508,
  "src/foundation/logs": 1_471,
  "src/foundation/scheduler": 360,
  "src/foundation/store": 3_807,
  "src/features/alerts": 2_827,
  "src/features/heartbeat": 283,
  "src/features/models": 520,
  "src/features/search": 1_593,
  "src/features/skills": 703,
  "src/features/spend": 1_795,
  "src/features/versions": 202,
  "src/features/webhooks": 2_748,
  "src/runtime/cluster": 4_918,
  "src/runtime/harness": 5_364,
  "src/runtime/run-api": 6_364,
  "src/runtime/runners": 5_213,
  "src/runtime/runs": 2_652,
  "src/interfaces/cli": 9_750,
  "src/interfaces/dashboard": 8_542,
  "src/interfaces/doctor": 2_182,
  "src/interfaces/gateway": 3_612,
  "src/interfaces/operations": 1_373,
  "src/interfaces/views": 363,
  "src/start": 1_590,
  test: 88_900,
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
