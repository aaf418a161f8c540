import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
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
  const numbers = () =>
    db
      .prepare("SELECT n FROM t ORDER BY n")
      .all()
      .map((row) => row.n);
  return { db, path, insert, numbers, commits: createGroupCommit(db, path) };
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

test("a full disk rejects with a clear error, and writes resume when there is space", async () => {
  const { db, insert, commits, numbers } = open();
  await commits.write(() => insert.run(1, null));
  const pages = Number(db.prepare("PRAGMA page_count").get()?.page_count);
  // SQLite reports a database at its page limit as SQLITE_FULL, as it does a full disk.
  db.exec(`PRAGMA max_page_count = ${pages + 2}`);
  await expect(commits.write(() => insert.run(2, Buffer.alloc(100_000)))).rejects.toMatchObject({
    code: "store_unavailable",
    hint: "free some disk space",
  });
  db.exec("PRAGMA max_page_count = 100000");
  await commits.write(() => insert.run(3, null));
  expect(numbers()).toEqual([1, 3]);
});

test("records of a turn wait for space even if one's error is translated already", async () => {
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
  await expect(commits.write(() => put(3))).rejects.toMatchObject({ code: "store_unavailable" });
  db.exec("PRAGMA max_page_count = 100000");
  await records;
  expect(numbers()).toEqual([0, 1, 2]);
});

test("a write with time to wait is retried until the store is available, before later writes", async () => {
  const { db, insert, commits, numbers } = open();
  db.exec("PRAGMA query_only = 1");
  const waits = commits.write(() => insert.run(1, null), 60_000);
  const inTime = commits.write(() => insert.run(2, null), 1);
  await expect(inTime).rejects.toMatchObject({ code: "store_unavailable" });
  expect(commits.problem()).toContain("readonly");
  db.exec("PRAGMA query_only = 0");
  await Promise.all([commits.write(() => insert.run(3, null)), waits]);
  expect(numbers()).toEqual([1, 3]);
  expect(commits.problem()).toBeNull();
});
