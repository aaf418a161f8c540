import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_599,
  "src/foundation": 225,
  "src/foundation/config": 5_054,
  "src/foundation/contracts": 2_907,
  "src/foundation/credentials": 1_728,
  "src/foundation/files": 522,
  "src/foundation/logs": 1_495,
  "src/foundation/scheduler": 362,
  "src/foundation/store": 4_057,
  "src/features/alerts": 3_754,
  "src/features/heartbeat": 282,
  "src/features/mcp": 51,
  "src/features/models": 517,
  "src/features/people": 640,
  "src/features/search": 1_643,
  "src/features/skills": 719,
  "src/features/spend": 1_856,
  "src/features/telemetry": 783,
  "src/features/tokens": 228,
  "src/features/versions": 202,
  "src/features/webhooks": 3_229,
  "src/runtime/cluster": 4_975,
  "src/runtime/harness": 6_146,
  "src/runtime/run-api": 7_012,
  "src/runtime/runners": 5_255,
  "src/runtime/runs": 3_584,
  "src/interfaces/cli": 10_974,
  "src/interfaces/dashboard": 10_774,
  "src/interfaces/doctor": 2_335,
  "src/interfaces/gateway": 4_823,
  "src/interfaces/mcp": 807,
  "src/interfaces/operations": 2_077,
  "src/interfaces/views": 447,
  "src/start": 1_712,
  test: 97_600,
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
