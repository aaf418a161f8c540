import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/**
 * Tokens of TypeScript a room: the most that it may have, and its target. Tokens count, because layout does not change
 * them. A commit that raises a budget says why.
 */
const budgets: Readonly<Record<string, readonly [most: number, target: number]>> = {
  streams: [33_505, 30_500],
  "src/foundation": [3_271, 1_200],
  "src/foundation/config": [47_747, 43_000],
  "src/foundation/contracts": [20_785, 15_000],
  "src/foundation/credentials": [16_909, 13_500],
  "src/foundation/files": [3_727, 3_500],
  "src/foundation/logs": [11_543, 11_000],
  "src/foundation/scheduler": [3_197, 2_700],
  "src/foundation/store": [26_001, 26_000],
  "src/features": [53, 53],
  "src/features/alerts": [32_775, 27_000],
  "src/features/heartbeat": [2_298, 2_200],
  "src/features/mcp": [523, 460],
  "src/features/models": [4_151, 4_300],
  "src/features/people": [7_510, 5_800],
  "src/features/search": [13_547, 12_000],
  "src/features/skills": [6_971, 6_800],
  "src/features/spend": [20_713, 13_500],
  "src/features/telemetry": [5_337, 5_300],
  "src/features/tokens": [2_693, 2_000],
  "src/features/versions": [1_670, 1_650],
  "src/features/webhooks": [28_486, 25_500],
  "src/runtime/agents": [6_556, 5_000],
  "src/runtime/cluster": [31_366, 31_000],
  "src/runtime/harness": [45_983, 39_000],
  "src/runtime/run-api": [48_678, 40_000],
  "src/runtime/runners": [33_921, 37_000],
  "src/runtime/runs": [54_597, 29_500],
  "src/runtime/wire": [14_311, 16_000],
  "src/interfaces/cli": [91_943, 90_000],
  "src/interfaces/dashboard": [95_977, 78_000],
  "src/interfaces/doctor": [22_436, 21_000],
  "src/interfaces/gateway": [30_713, 35_000],
  "src/interfaces/mcp": [8_207, 5_000],
  "src/interfaces/operations": [2_200, 15_000],
  "src/interfaces/views": [3_851, 4_000],
  "src/start": [11_601, 10_500],
  test: [909_170, 870_000],
};

/** Comments and imports. */
const uncounted = /\/\*.*?\*\/|(?<![:"'`\w])\/\/[^\n]*|^import\b[^;]*;/gms;
/** A name, a number, or a sign. */
const token = /[A-Za-z_$][\w$]*|\d[\w.]*|[^\s\p{L}\p{N}_]/gu;
const roomPath =
  /^(?:streams|test|src\/(?:foundation|features|runtime|interfaces)\/[^/]+|src\/[^/]+)(?=\/)/;

function tokensByRoom(): ReadonlyMap<string, number> {
  const rooms = new Map<string, number>();
  for (const file of globSync("{src,streams,test}/**/*.{ts,tsx}", { cwd: root })) {
    const room = roomPath.exec(file)?.[0] ?? file;
    const text = readFileSync(join(root, file), "utf8").replace(uncounted, "");
    rooms.set(room, (rooms.get(room) ?? 0) + (text.match(token)?.length ?? 0));
  }
  return rooms;
}

const rooms = tokensByRoom();

test("each TypeScript file of src, streams and test belongs to a folder with a budget", () => {
  expect([...rooms.keys()].filter((room) => !(room in budgets))).toEqual([]);
});

test.each(Object.entries(budgets))("%s is within its budget of tokens", (room, [most]) => {
  expect(rooms.get(room) ?? 0).toBeLessThanOrEqual(most);
});

afterAll(() => {
  const rows = Object.entries(budgets).map(([room, [most, target]]) => {
    const numbers = [rooms.get(room) ?? 0, most, target].map((n) => String(n).padStart(9));
    return `${room.padEnd(28)}${numbers.join("")}\n`;
  });
  process.stdout.write(`Tokens a room: today, budget, target\n${rows.join("")}`);
});
