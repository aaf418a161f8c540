import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/**
 * Tokens of TypeScript a room: the most that it may have, and its target. Tokens count, because layout does not change
 * them. A commit that raises a budget says why.
 */
const budgets: Readonly<Record<string, readonly [most: number, target: number]>> = {
  streams: [30_685, 30_500],
  "src/foundation": [1_245, 1_200],
  "src/foundation/config": [46_399, 43_000],
  "src/foundation/contracts": [21_294, 15_000],
  "src/foundation/credentials": [14_454, 13_500],
  "src/foundation/files": [3_727, 3_500],
  "src/foundation/logs": [11_482, 11_000],
  "src/foundation/scheduler": [2_789, 2_700],
  "src/foundation/store": [30_732, 26_000],
  "src/features/alerts": [30_288, 27_000],
  "src/features/heartbeat": [2_290, 2_200],
  "src/features/mcp": [465, 460],
  "src/features/models": [4_418, 4_300],
  "src/features/people": [5_838, 5_800],
  "src/features/search": [13_611, 12_000],
  "src/features/skills": [7_043, 6_800],
  "src/features/spend": [14_059, 13_500],
  "src/features/telemetry": [5_416, 5_300],
  "src/features/tokens": [2_083, 2_000],
  "src/features/versions": [1_685, 1_650],
  "src/features/webhooks": [26_611, 25_500],
  "src/runtime/cluster": [36_040, 31_000],
  "src/runtime/harness": [47_137, 39_000],
  "src/runtime/run-api": [52_634, 40_000],
  "src/runtime/runners": [37_858, 37_000],
  "src/runtime/runs": [29_633, 29_500],
  "src/interfaces/cli": [100_698, 90_000],
  "src/interfaces/dashboard": [84_217, 78_000],
  "src/interfaces/doctor": [21_729, 21_000],
  "src/interfaces/gateway": [39_152, 35_000],
  "src/interfaces/mcp": [8_006, 5_000],
  "src/interfaces/operations": [17_215, 15_000],
  "src/interfaces/views": [4_281, 4_000],
  "src/start": [10_961, 10_500],
  test: [1_155_681, 900_000],
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

test("each TypeScript file of src, streams and test belongs to a room with a budget", () => {
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
