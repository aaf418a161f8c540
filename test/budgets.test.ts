import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_513,
  "src/foundation": 221,
  "src/foundation/config": 4_717,
  "src/foundation/contracts": 2_651,
  "src/foundation/credentials": 1_677,
  "src/foundation/files": 527,
  "src/foundation/logs": 1_509,
  "src/foundation/scheduler": 361,
  "src/foundation/store": 3_995,
  "src/features/alerts": 2_920,
  "src/features/heartbeat": 283,
  "src/features/models": 520,
  "src/features/people": 298,
  "src/features/search": 1_650,
  "src/features/skills": 706,
  "src/features/spend": 1_855,
  "src/features/versions": 202,
  "src/features/webhooks": 2_761,
  "src/runtime/cluster": 4_920,
  "src/runtime/harness": 5_431,
  "src/runtime/run-api": 6_470,
  "src/runtime/runners": 5_281,
  "src/runtime/runs": 2_788,
  "src/interfaces/cli": 10_292,
  "src/interfaces/dashboard": 10_025,
  "src/interfaces/doctor": 2_181,
  "src/interfaces/gateway": 3_914,
  "src/interfaces/operations": 1_794,
  "src/interfaces/views": 407,
  "src/start": 1_608,
  test: 92_300,
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
