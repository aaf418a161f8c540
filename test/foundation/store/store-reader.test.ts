import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { readLastRuns } from "../../../src/features/spend/call-totals.ts";
import { openStore } from "../../../src/features/open-store.ts";
import { mkdirSync, readdirSync, writeFileSync, copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreReader, type Store } from "../../../src/foundation/store/store.ts";
import { spendOn } from "./spend-on.ts";
import { tempStore, cronItem, manualItem, requestFor, succeeded, wholeHistory } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { DatabaseSync } from "node:sqlite";
import { storeFormat } from "../../../src/foundation/store/migrations.ts";

async function fill(store: Store): Promise<void> {
  await store.work.enqueue([manualItem("ran"), manualItem("waits"), manualItem("too", "ops")]);
  const [item, id] = [manualItem("ran"), "dev-aaaaaaaa"];
  await store.work.claim(requestFor(item, id));
  await store.work.end(item, { instanceId: id, startedAt: 1_000, at: 3_000, end: succeeded });
  await store.work.claim(requestFor(cronItem("tick"), "dev-bbbbbbbb"));
  await store.settings.setDisabled("ops", true);
  await store.settings.recordAlive(5_000);
  await spendOn(store, "dev", [5, 7]);
}

/** The store's files with their bytes; that of the shared memory changes with each reader. */
function filesIn(dir: string): Record<string, string> {
  const names = readdirSync(join(dir, ".al")).filter((name) => name.startsWith("state.db"));
  return Object.fromEntries(
    names.map((name) => {
      const bytes = name.endsWith("-shm") ? "" : readFileSync(join(dir, ".al", name), "base64");
      return [name, bytes];
    }),
  );
}

async function expectAll(dir: string): Promise<void> {
  const read = openStoreReader(dir);
  if (read === null) throw new Error("there is a store");
  const { triggers, total } = read.history.query(wholeHistory);
  expect(total).toBe(4);
  expect(triggers.map(({ id }) => id).sort()).toEqual(["ran", "tick", "too", "waits"]);
  expect(read.runs.find("dev-aaaaaaaa")?.entry).toMatchObject({ outcome: "succeeded" });
  expect(read.lastRun("dev")).toMatchObject({ startedAt: 1_000, endedAt: 3_000 });
  expect(read.waitingWork.counts()).toEqual(
    new Map([
      ["dev", 1],
      ["ops", 1],
    ]),
  );
  expect(read.settings.disabledAgents()).toEqual(new Set(["ops"]));
  expect(read.settings.lastAlive()).toBe(5_000);
  expect(read.settings.pause()).toEqual({ schedules: false, work: false, since: null });
  expect(read.tables(createSpend).run("dev-1")).toMatchObject({ nano: 7 });
  expect(read.tables(createSpend).account("run:dev-0", "run")).toMatchObject({ spent: 5 });
  await read.hosts.flush();
  expect(read.hosts.of("dev-aaaaaaaa")).toEqual([]);
  // The last one who closes a store that it may write empties the log.
  read.close();
}

test("opening a reader of a missing store returns null and creates no file", () => {
  const dir = tempDir();
  expect(openStoreReader(dir)).toBeNull();
  expect(readdirSync(dir)).toEqual([]);
});

test("a store is read after its scheduler stopped, without changing a byte", async () => {
  const dir = tempDir();
  const store = openStore(dir);
  await fill(store);
  store.close();
  const before = filesIn(dir);
  await expectAll(dir);
  expect(filesIn(dir)).toEqual(before);
  expect(Object.keys(before)).toEqual(["state.db"]);
});

test("a store is read as a killed scheduler left it, with the rows of its log", async () => {
  const dir = tempDir();
  const killed = tempDir();
  const store = openStore(dir);
  await fill(store);
  mkdirSync(join(killed, ".al"));
  for (const name of ["state.db", "state.db-wal", "state.db-shm"]) {
    copyFileSync(join(dir, ".al", name), join(killed, ".al", name));
  }
  store.close();
  const before = filesIn(killed);
  expect(before["state.db-wal"]).not.toBe("");
  await expectAll(killed);
  expect(filesIn(killed)).toEqual(before);
});

test.each([
  ["store_older", storeFormat.firstVersion - 1],
  ["store_newer", storeFormat.firstVersion + storeFormat.steps.length],
])("%s: a store of format %i is refused and stays as it is", (code, version) => {
  const dir = tempDir();
  openStore(dir).close();
  const db = new DatabaseSync(join(dir, ".al/state.db"));
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
  const before = filesIn(dir);
  expect(() => openStoreReader(dir)).toThrow(expect.objectContaining({ code }));
  expect(filesIn(dir)).toEqual(before);
});

test.each(["", "no database at all, but some text that is long enough"])(
  "the store reader rejects a file that is not a database: %j",
  (text) => {
    const dir = tempDir();
    mkdirSync(join(dir, ".al"));
    writeFileSync(join(dir, ".al/state.db"), text);
    const corrupt: unknown = expect.objectContaining({ code: "store_corrupt" });
    expect(() => openStoreReader(dir)).toThrow(corrupt);
  },
);

test("the store reader reads the costs of runs while the store is open and after it is closed, and creates no file", async () => {
  const dir = tempDir();
  expect(readLastRuns(dir, 20)).toEqual(new Map());
  const store = openStore(dir);
  await spendOn(store, "dev", [5, 7]);
  expect(readLastRuns(dir, 20).get("dev")?.costs.toSorted()).toEqual([5, 7]);
  store.close();
  const files = readdirSync(join(dir, ".al"));
  expect(readLastRuns(dir, 1).get("dev")?.costs).toHaveLength(1);
  expect(readdirSync(join(dir, ".al"))).toEqual(files);
});

test("the store reader returns no runs of a database that can't be read", () => {
  const dir = tempDir();
  mkdirSync(join(dir, ".al"));
  writeFileSync(join(dir, ".al/state.db"), "no database at all");
  expect(readLastRuns(dir, 20)).toEqual(new Map());
  expect(readLastRuns(tempDirOfStore(), 20)).toEqual(new Map());
});

function tempDirOfStore(): string {
  const dir = tempDir();
  tempStore(dir);
  return dir;
}
