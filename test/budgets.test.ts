import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_545,
  "src/foundation": 75,
  "src/foundation/config": 4_935,
  "src/foundation/contracts": 4_998,
  "src/foundation/credentials": 1_738,
  "src/foundation/files": 475,
  "src/foundation/logs": 1_563,
  "src/foundation/store": 4_226,
  "src/features/alerts": 2_707,
  "src/features/heartbeat": 339,
  "src/features/models": 530,
  "src/features/search": 1_797,
  "src/features/skills": 713,
  "src/features/spend": 1_674,
  "src/features/versions": 205,
  "src/features/webhooks": 2_704,
  "src/runtime/cluster": 5_370,
  "src/runtime/harness": 5_623,
  "src/runtime/run-api": 5_696,
  "src/runtime/runners": 5_736,
  "src/runtime/runs": 2_765,
  "src/runtime/scheduler": 285,
  "src/interfaces/cli": 11_062,
  "src/interfaces/dashboard": 9_101,
  "src/interfaces/doctor": 2_502,
  "src/interfaces/gateway": 3_742,
  "src/interfaces/operations": 1_522,
  "src/start": 3_474,
  test: 98_000,
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
