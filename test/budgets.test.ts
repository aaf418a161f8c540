import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_436,
  "src/foundation": 216,
  "src/foundation/config": 4_697,
  "src/foundation/contracts": 2_382,
  "src/foundation/credentials": 1_678,
  "src/foundation/files": 517,
  "src/foundation/logs": 1_475,
  "src/foundation/scheduler": 360,
  "src/foundation/store": 3_846,
  "src/features/alerts": 2_827,
  "src/features/heartbeat": 283,
  "src/features/models": 518,
  "src/features/search": 1_595,
  "src/features/skills": 706,
  "src/features/spend": 1_796,
  "src/features/versions": 202,
  "src/features/webhooks": 2_748,
  "src/runtime/cluster": 4_918,
  "src/runtime/harness": 5_386,
  "src/runtime/run-api": 6_364,
  "src/runtime/runners": 5_221,
  "src/runtime/runs": 2_667,
  "src/interfaces/cli": 10_101,
  "src/interfaces/dashboard": 8_763,
  "src/interfaces/doctor": 2_181,
  "src/interfaces/gateway": 3_653,
  "src/interfaces/operations": 1_445,
  "src/interfaces/views": 406,
  "src/start": 1_589,
  test: 90_200,
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
