import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../../src/foundation/store/database.ts";
import { tempDir } from "./support.ts";

const first = "CREATE TABLE a (n INTEGER)";
const second = "ALTER TABLE a ADD COLUMN m INTEGER";

test("a new database is private, in WAL mode, fully synchronous and at the latest version", () => {
  const path = join(tempDir(), "x.db");
  const db = openDatabase(path, [first, second]);
  onTestFinished(() => db.close());
  db.exec("INSERT INTO a VALUES (1, 2)");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
});

test("an older database is brought up to date and keeps its data", () => {
  const path = join(tempDir(), "x.db");
  const old = openDatabase(path, [first]);
  old.exec("INSERT INTO a VALUES (7)");
  old.close();
  const db = openDatabase(path, [first, second]);
  onTestFinished(() => db.close());
  expect(db.prepare("SELECT n, m FROM a").get()).toEqual({ n: 7, m: null });
});

test("a failing migration leaves the database as it was", () => {
  const path = join(tempDir(), "x.db");
  openDatabase(path, [first]).close();
  expect(() => openDatabase(path, [first, `${second}; SELECT nonsense`])).toThrow(/nonsense/);
  const db = openDatabase(path, [first]);
  onTestFinished(() => db.close());
  expect(db.prepare("SELECT * FROM a").columns()).toHaveLength(1);
});

test("a database of a newer program is refused", () => {
  const path = join(tempDir(), "x.db");
  openDatabase(path, [first, second]).close();
  expect(() => openDatabase(path, [first])).toThrow(
    expect.objectContaining({ code: "store_newer" }),
  );
});

test("a file that is no database is refused and stays as it is", () => {
  const path = join(tempDir(), "x.db");
  const text = "these are not the pages you are looking for".repeat(100);
  writeFileSync(path, text);
  expect(() => openDatabase(path, [first])).toThrow(
    expect.objectContaining({ code: "store_corrupt" }),
  );
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a path that cannot be opened is an error for a person", () => {
  const dir = tempDir();
  chmodSync(dir, 0o700);
  expect(() => openDatabase(join(dir, "missing", "x.db"), [first])).toThrow(
    expect.objectContaining({ code: "store_unavailable" }),
  );
});
