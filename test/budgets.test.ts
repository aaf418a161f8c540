import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/**
 * Tokens of TypeScript a room: the most that it may have, and its target. Tokens count, because layout does not change
 * them. A commit that raises a budget says why.
 */
const budgets: Readonly<Record<string, readonly [most: number, target: number]>> = {
  streams: [33_134, 30_500],
  "src/foundation": [2_774, 1_200],
  "src/foundation/config": [46_371, 43_000],
  "src/foundation/contracts": [20_370, 15_000],
  "src/foundation/credentials": [17_014, 13_500],
  "src/foundation/files": [3_727, 3_500],
  "src/foundation/logs": [11_548, 11_000],
  "src/foundation/scheduler": [3_166, 2_700],
  "src/foundation/store": [25_944, 26_000],
  "src/features": [53, 53],
  "src/features/alerts": [32_611, 27_000],
  "src/features/heartbeat": [2_298, 2_200],
  "src/features/mcp": [556, 460],
  "src/features/models": [4_442, 4_300],
  "src/features/people": [7_869, 5_800],
  "src/features/search": [13_558, 12_000],
  "src/features/skills": [7_003, 6_800],
  "src/features/spend": [20_578, 13_500],
  "src/features/telemetry": [5_341, 5_300],
  "src/features/tokens": [2_795, 2_000],
  "src/features/versions": [1_670, 1_650],
  "src/features/webhooks": [28_584, 25_500],
  "src/runtime/agents": [5_908, 5_000],
  "src/runtime/cluster": [31_460, 31_000],
  "src/runtime/harness": [42_210, 39_000],
  "src/runtime/run-api": [48_204, 40_000],
  "src/runtime/runners": [33_978, 37_000],
  "src/runtime/runs": [48_500, 29_500],
  "src/runtime/wire": [13_605, 16_000],
  "src/interfaces/cli": [86_961, 90_000],
  "src/interfaces/dashboard": [83_207, 78_000],
  "src/interfaces/doctor": [22_222, 21_000],
  "src/interfaces/gateway": [32_327, 35_000],
  "src/interfaces/mcp": [8_219, 5_000],
  "src/interfaces/operations": [1_660, 15_000],
  "src/interfaces/views": [3_030, 4_000],
  "src/start": [11_506, 10_500],
  test: [994_700, 870_000],
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
