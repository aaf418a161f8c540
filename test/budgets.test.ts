import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/**
 * Tokens of TypeScript a room: the most that it may have, and its target. Tokens count, because layout does not change
 * them. A commit that raises a budget says why.
 */
const budgets: Readonly<Record<string, readonly [most: number, target: number]>> = {
  streams: [42_991, 30_500],
  "src/foundation": [3_273, 1_200],
  "src/foundation/config": [62_464, 43_000],
  "src/foundation/contracts": [24_237, 15_000],
  "src/foundation/credentials": [18_269, 13_500],
  "src/foundation/files": [7_358, 3_500],
  "src/foundation/logs": [11_540, 11_000],
  "src/foundation/scheduler": [3_648, 2_700],
  "src/foundation/store": [32_563, 26_000],
  "src/features": [59, 53],
  "src/features/alerts": [32_931, 27_000],
  "src/features/artifacts": [3_265, 3_000],
  "src/features/github-app": [4_305, 4_000],
  "src/features/heartbeat": [2_297, 2_200],
  "src/features/mcp": [523, 460],
  "src/features/memory": [12_374, 6_000],
  "src/features/models": [4_033, 4_300],
  "src/features/people": [8_216, 5_800],
  "src/features/search": [13_539, 12_000],
  "src/features/sessions": [3_125, 2_500],
  "src/features/skills": [6_118, 6_800],
  "src/features/spend": [20_826, 13_500],
  "src/features/telemetry": [5_378, 5_300],
  "src/features/tokens": [2_693, 2_000],
  "src/features/versions": [1_373, 1_650],
  "src/features/webhooks": [37_705, 25_500],
  "src/features/workspace": [6_623, 4_000],
  "src/runtime/agents": [6_689, 5_000],
  "src/runtime/cluster": [31_362, 31_000],
  "src/runtime/harness": [53_179, 39_000],
  "src/runtime/run-api": [53_219, 40_000],
  "src/runtime/runners": [33_940, 37_000],
  "src/runtime/runs": [64_050, 29_500],
  "src/runtime/wire": [16_593, 16_000],
  "src/interfaces/cli": [103_557, 90_000],
  "src/interfaces/dashboard": [103_401, 78_000],
  "src/interfaces/doctor": [23_608, 21_000],
  "src/interfaces/gateway": [31_920, 35_000],
  "src/interfaces/mcp": [9_455, 5_000],
  "src/interfaces/operations": [2_552, 15_000],
  "src/interfaces/views": [4_382, 4_000],
  "src/start": [13_066, 10_500],
  test: [1_051_800, 870_000],
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
