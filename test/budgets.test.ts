import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** The most lines of TypeScript that each room may have. A commit that raises a number says why. */
const budgets = {
  streams: 4_586,
  "src/foundation": 225,
  "src/foundation/config": 5_048,
  "src/foundation/contracts": 2_906,
  "src/foundation/credentials": 1_726,
  "src/foundation/files": 522,
  "src/foundation/logs": 1_496,
  "src/foundation/scheduler": 362,
  "src/foundation/store": 4_063,
  "src/features/alerts": 3_748,
  "src/features/heartbeat": 282,
  "src/features/mcp": 51,
  "src/features/models": 518,
  "src/features/people": 642,
  "src/features/search": 1_641,
  "src/features/skills": 719,
  "src/features/spend": 1_855,
  "src/features/telemetry": 774,
  "src/features/tokens": 224,
  "src/features/versions": 202,
  "src/features/webhooks": 3_222,
  "src/runtime/cluster": 4_965,
  "src/runtime/harness": 6_144,
  "src/runtime/run-api": 6_995,
  "src/runtime/runners": 5_268,
  "src/runtime/runs": 3_588,
  "src/interfaces/cli": 10_976,
  "src/interfaces/dashboard": 10_768,
  "src/interfaces/doctor": 2_334,
  "src/interfaces/gateway": 4_808,
  "src/interfaces/mcp": 807,
  "src/interfaces/operations": 2_077,
  "src/interfaces/views": 447,
  "src/start": 1_703,
  test: 96_000,
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
