import { openStore } from "../../../src/features/open-store.ts";
import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runAl, startTestScheduler } from "../../helpers/scheduler.ts";
import { sendLoad } from "../../features/webhooks/load.ts";
import { crashProject, type CrashProject } from "../crash/crash-project.ts";
import { delivery } from "./store-project.ts";

let project: CrashProject;
/** The database of a project that has worked, whole. */
let whole: Buffer;
const path = () => join(project.dir, ".al", "state.db");
const pageBytes = 4096;

beforeAll(async () => {
  project = await crashProject();
  const scheduler = await startTestScheduler(project, { webUi: false });
  const deliveries = Array.from({ length: 20 }, (_, n) => delivery(n));
  await sendLoad(scheduler.url, deliveries, 4);
  await scheduler.stop();
  whole = readFileSync(path());
});
afterAll(() => project.remove());
beforeEach(() => {
  for (const file of ["-wal", "-shm"]) rmSync(`${path()}${file}`, { force: true });
  writeFileSync(path(), whole);
});

/** The database with garbage from one place to another. */
function withGarbage(from: number, to: number): Buffer {
  return Buffer.concat([
    whole.subarray(0, from),
    Buffer.alloc(to - from, "garbage"),
    whole.subarray(to),
  ]);
}

/** The number of a table's first page. */
function rootOf(table: string): number {
  using db = new DatabaseSync(path());
  const row = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table);
  return Number(row?.rootpage);
}

test.each<[string, () => void]>([
  ["that is text", () => writeFileSync(path(), "not the pages you are looking for\n".repeat(1000))],
  [
    "whose table of work is garbage",
    () => {
      const from = (rootOf("triggers") - 1) * pageBytes;
      writeFileSync(path(), withGarbage(from, from + pageBytes));
    },
  ],
  ["that was emptied", () => truncateSync(path(), 0)],
])("a damaged state.db is rejected with a hint and left unchanged: %s", async (_, damage) => {
  damage();
  const before = readFileSync(path());
  const { code, stdout, stderr } = await runAl(project, ["start", "--port", "0"]);
  expect(code).toBe(1);
  expect(stdout).not.toContain("API key");
  const hint = "move the file away together";
  for (const text of [`${path()}: `, hint]) expect(stderr).toContain(text);
  expect(stderr).not.toContain("    at ");
  expect(readFileSync(path()).equals(before)).toBe(true);
});

test("a state.db with a page of garbage is never taken for a new one", async () => {
  for (let from = pageBytes; from < whole.length; from += pageBytes) {
    writeFileSync(path(), withGarbage(from, from + pageBytes));
    const failure: unknown = await takeOver().catch((error: unknown) => error);
    if (failure !== undefined) expect(failure).toMatchObject({ code: "store_corrupt" });
    expect(readFileSync(path()).length).toBeGreaterThanOrEqual(whole.length);
    for (const file of ["-wal", "-shm"]) rmSync(`${path()}${file}`, { force: true });
  }
});

test("a state.db that is moved while the scheduler runs ends the scheduler without losing acknowledged work", async () => {
  const scheduler = await startTestScheduler(project, { webUi: false });
  const acknowledged = async (n: number) => {
    const answers = await sendLoad(scheduler.url, [delivery(n)], 1);
    return answers.filter(({ status }) => status === 200).length;
  };
  const before = await acknowledged(1_000);
  renameSync(path(), join(project.dir, "moved.db"));
  const count = before + (await acknowledged(1_001));
  await scheduler.waitForOutput(/FATAL.*state\.db.* saved as .*al start/);
  expect(await scheduler.exited).toBe(1);
  const store = openStore(project.dir);
  const { triggers } = store.history.query({ page: 1, limit: 200 });
  store.close();
  expect(triggers).toHaveLength(20 + count);
});

/** What a start does with the store. */
async function takeOver(): Promise<void> {
  const store = openStore(project.dir);
  try {
    store.settings.pause();
    store.settings.disabledAgents();
    store.lastRun("dev");
    store.openRuns();
    await store.recover();
    store.history.query({ page: 1, limit: 50 });
  } finally {
    store.close();
  }
}
