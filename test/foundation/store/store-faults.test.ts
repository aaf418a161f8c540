import { DatabaseSync, StatementSync } from "node:sqlite";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../../src/foundation/store/database.ts";
import { createGroupCommit } from "../../../src/foundation/store/group-commit.ts";
import { isLong } from "../../helpers/long.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

function open() {
  const path = join(tempDir(), "t.db");
  const db = openDatabase(path, {
    firstVersion: 1,
    steps: ["CREATE TABLE t (n INTEGER UNIQUE) STRICT"],
  });
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  const insert = db.prepare("INSERT INTO t VALUES (?)");
  const select = db.prepare("SELECT n FROM t ORDER BY rowid");
  const numbers = () => select.all().map(({ n }) => n);
  const setReadOnly = (on: boolean) => db.exec(`PRAGMA query_only = ${Number(on)}`);
  return { db, path, insert, numbers, setReadOnly, commits: createGroupCommit(db, path) };
}

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

test("records wait for the store, ahead of later writes, and requests don't", async () => {
  const { insert, numbers, setReadOnly, commits } = open();
  setReadOnly(true);
  const recorded = commits.record(() => insert.run(1));
  const asked = commits.write(() => insert.run(2));
  await expect(asked).rejects.toMatchObject({ code: "store_unavailable" });
  setReadOnly(false);
  const later = commits.write(() => insert.run(3));
  await Promise.all([recorded, later]);
  expect(numbers()).toEqual([1, 3]);
});

test("an invalid record is not retried", async () => {
  const { insert, commits } = open();
  await commits.record(() => insert.run(1));
  await expect(commits.record(() => insert.run(1))).rejects.toThrow(/UNIQUE/);
});

test("a flush settles everything, even writes that wait for the store", async () => {
  const { insert, setReadOnly, commits } = open();
  setReadOnly(true);
  const recorded = commits.record(() => insert.run(1));
  commits.flush();
  await expect(recorded).rejects.toMatchObject({ code: "store_unavailable" });
});

test("while another process writes, writes wait and the event loop continues", async () => {
  const { path, insert, numbers, commits } = open();
  const other = otherWriter(path);
  const writing = commits.write(() => insert.run(1));
  const began = performance.now();
  for (let turns = 0; turns < 20; turns++) await sleep(5);
  expect(performance.now() - began).toBeLessThan(1500);
  other.exec("ROLLBACK");
  await writing;
  expect(numbers()).toEqual([1]);
});

test.runIf(isLong)("a request gives up on another process's lock after a while", async () => {
  const { path, insert, commits } = open();
  otherWriter(path);
  await expect(commits.write(() => insert.run(1))).rejects.toMatchObject({
    code: "store_unavailable",
    hint: "another process holds the database; end it or wait",
  });
});

test("a commit that fails after it was written counts", async () => {
  const { insert, numbers, commits } = open();
  failNextCommit("after");
  await commits.write(() => insert.run(1));
  expect(numbers()).toEqual([1]);
});

test("a commit that fails before it was written does not count", async () => {
  const { insert, numbers, commits } = open();
  failNextCommit("before");
  const writing = commits.write(() => insert.run(1));
  await expect(writing).rejects.toMatchObject({ code: "store_unavailable" });
  expect(numbers()).toEqual([]);
});
