import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { openDatabase } from "../../../src/foundation/store/database.ts";
import { createGroupCommit } from "../../../src/foundation/store/group-commit.ts";
import { withStoreErrors } from "../../../src/foundation/store/store-error.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

function open() {
  const path = join(tempDir(), "t.db");
  const db = openDatabase(path, {
    firstVersion: 1,
    steps: ["CREATE TABLE t (n INTEGER UNIQUE, body BLOB) STRICT"],
  });
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  const select = db.prepare("SELECT n FROM t ORDER BY rowid");
  const numbers = () => select.all().map(({ n }) => n);
  const setReadOnly = (on: boolean) => db.exec(`PRAGMA query_only = ${Number(on)}`);
  return { db, path, insert, numbers, setReadOnly, commits: createGroupCommit(db, path) };
}

test("the writes of one turn become visible together, in one transaction", async () => {
  const { path, insert, commits } = open();
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  const seen = () => other.prepare("SELECT count(*) AS n FROM t").get()?.n;
  const inside: unknown[] = [];
  const writes = [1, 2, 3].map((n) =>
    commits.write(() => {
      insert.run(n, null);
      inside.push(seen());
      return n * 10;
    }),
  );
  expect(seen()).toBe(0);
  expect(await Promise.all(writes)).toEqual([10, 20, 30]);
  expect(inside).toEqual([0, 0, 0]);
  expect(seen()).toBe(3);
});

test("a failing write rejects alone and leaves no trace", async () => {
  const { insert, commits, numbers } = open();
  const settled = await Promise.allSettled([
    commits.write(() => insert.run(1, null)),
    commits.write(() => {
      insert.run(2, null);
      throw new Error("mine");
    }),
    commits.write(() => insert.run(1, null)),
    commits.write(() => insert.run(3, null)),
  ]);
  expect(settled.map((one) => one.status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
  ]);
  expect(settled[1]).toMatchObject({ reason: { message: "mine" } });
  expect(numbers()).toEqual([1, 3]);
});

test("flush commits at once, even thousands of waiting writes", async () => {
  const { insert, commits, numbers } = open();
  const writes = Array.from({ length: 2500 }, (_, n) => commits.write(() => insert.run(n, null)));
  commits.flush();
  expect(numbers()).toHaveLength(2500);
  await Promise.all(writes);
});

test("on a full disk a request is rejected with a hint, and records wait for space, also one whose error is translated already", async () => {
  const { db, path, insert, commits, numbers } = open();
  await commits.write(() => insert.run(0, null));
  const { put } = withStoreErrors(path, {
    put: (n: number) => insert.run(n, Buffer.alloc(100_000)),
  });
  const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
  db.exec(`PRAGMA max_page_count = ${pages + 2}`);
  const records = Promise.all([
    commits.record(() => insert.run(1, null)),
    commits.record(() => put(2)),
  ]);
  // SQLite reports a database at its page limit as SQLITE_FULL, as it does a full disk.
  const full = { code: "store_unavailable", hint: "free some disk space" };
  await expect(commits.write(() => put(3))).rejects.toMatchObject(full);
  db.exec("PRAGMA max_page_count = 100000");
  await records;
  expect(numbers()).toEqual([0, 1, 2]);
});

test("a write with time to wait is retried until the store is available, before later writes", async () => {
  const { insert, commits, numbers, setReadOnly } = open();
  setReadOnly(true);
  const waits = commits.write(() => insert.run(1, null), 60_000);
  const inTime = commits.write(() => insert.run(2, null), 1);
  await expect(inTime).rejects.toMatchObject({ code: "store_unavailable" });
  expect(commits.problem()).toContain("readonly");
  setReadOnly(false);
  await Promise.all([commits.write(() => insert.run(3, null)), waits]);
  expect(numbers()).toEqual([1, 3]);
  expect(commits.problem()).toBeNull();
});

/** Somebody else's transaction on the file, until it is ended. */
function otherWriter(path: string): DatabaseSync {
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  return other;
}

/** The next COMMIT of this process fails, after it went through or before. */
function failNextCommit(when: "before" | "after"): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const { run } = StatementSync.prototype;
  const restore = () => (StatementSync.prototype.run = run);
  onTestFinished(() => void restore());
  StatementSync.prototype.run = function (this: StatementSync, ...args: Parameters<typeof run>) {
    if (this.sourceSQL !== "COMMIT") return run.apply(this, args);
    restore();
    if (when === "after") run.apply(this, args);
    throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
  } as typeof run;
}

test("an invalid record is not retried", async () => {
  const { insert, commits } = open();
  await commits.record(() => insert.run(1, null));
  await expect(commits.record(() => insert.run(1, null))).rejects.toThrow(/UNIQUE/);
});

test("a flush rejects records that wait for the store", async () => {
  const { insert, setReadOnly, commits } = open();
  setReadOnly(true);
  const recorded = commits.record(() => insert.run(1, null));
  commits.flush();
  await expect(recorded).rejects.toMatchObject({ code: "store_unavailable" });
});

test("while another process writes, writes wait and the event loop continues", async () => {
  const { db, path, insert, numbers, commits } = open();
  const other = otherWriter(path);
  const writing = commits.write(() => insert.run(1, null));
  await new Promise(setImmediate);
  // For so long a try to begin takes the thread; the next one comes in a later turn.
  expect(Number(db.prepare("PRAGMA busy_timeout").get()?.timeout)).toBeLessThan(100);
  other.exec("ROLLBACK");
  await writing;
  expect(numbers()).toEqual([1]);
});

test("a write resolves if its commit fails after it was written", async () => {
  const { insert, numbers, commits } = open();
  failNextCommit("after");
  await commits.write(() => insert.run(1, null));
  expect(numbers()).toEqual([1]);
});

test("a write rejects if its commit fails before it was written", async () => {
  const { insert, numbers, commits } = open();
  failNextCommit("before");
  const writing = commits.write(() => insert.run(1, null));
  await expect(writing).rejects.toMatchObject({ code: "store_unavailable" });
  expect(numbers()).toEqual([]);
});
