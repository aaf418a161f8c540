import {
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { manualItem, tempStore, wholeHistory } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { openDatabase } from "../../../src/foundation/store/database.ts";

const first = "CREATE TABLE a (n INTEGER)";
const second = "ALTER TABLE a ADD COLUMN m INTEGER";
/** The first version of the schema is 3. */
const format = (...steps: readonly string[]) => ({ firstVersion: 3, steps });

test("a new database is private, in WAL mode, fully synchronous and at the latest version", () => {
  const path = join(tempDir(), "x.db");
  const db = openDatabase(path, format(first, second));
  onTestFinished(() => db.close());
  db.exec("INSERT INTO a VALUES (1, 2)");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 4 });
});

test("an older database is brought up to date and keeps its data", () => {
  const path = join(tempDir(), "x.db");
  const old = openDatabase(path, format(first));
  old.exec("INSERT INTO a VALUES (7)");
  old.close();
  const db = openDatabase(path, format(first, second));
  onTestFinished(() => db.close());
  expect(db.prepare("SELECT n, m FROM a").get()).toEqual({ n: 7, m: null });
});

test("an update saves the database of before it privately, and is not done if that fails", () => {
  const path = join(tempDir(), "x.db");
  const saved = `${path}.before-update`;
  const old = openDatabase(path, format(first));
  old.exec("INSERT INTO a VALUES (7)");
  old.close();
  mkdirSync(saved);
  expect(() => openDatabase(path, format(first, second))).toThrow();
  rmdirSync(saved);
  openDatabase(path, format(first, second)).close();
  expect(statSync(saved).mode & 0o777).toBe(0o600);
  renameSync(saved, path);
  const again = openDatabase(path, format(first));
  onTestFinished(() => again.close());
  expect(again.prepare("SELECT * FROM a").get()).toEqual({ n: 7 });
});

test("a failing migration leaves the database as it was", () => {
  const path = join(tempDir(), "x.db");
  openDatabase(path, format(first)).close();
  expect(() => openDatabase(path, format(first, `${second}; SELECT nonsense`))).toThrow(/nonsense/);
  const db = openDatabase(path, format(first));
  onTestFinished(() => db.close());
  expect(db.prepare("SELECT * FROM a").columns()).toHaveLength(1);
});

test("a database of a newer program, or older than the first format, is refused", () => {
  const path = join(tempDir(), "x.db");
  openDatabase(path, format(first, second)).close();
  expect(() => openDatabase(path, format(first))).toThrow(
    expect.objectContaining({
      code: "store_newer",
      message: expect.stringMatching(
        /written by a newer version of this program \(format 4\)/,
      ) as unknown,
      hint: expect.stringContaining("x.db.before-update") as unknown,
    }),
  );
  const later = { firstVersion: 5, steps: [first] };
  expect(() => openDatabase(path, later)).toThrow(expect.objectContaining({ code: "store_older" }));
});

test("a file that is not a database is rejected and unchanged", () => {
  const path = join(tempDir(), "x.db");
  const text = "these are not the pages you are looking for".repeat(100);
  writeFileSync(path, text);
  expect(() => openDatabase(path, format(first))).toThrow(
    expect.objectContaining({ code: "store_corrupt" }),
  );
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("opening a path in a missing directory fails with store_unavailable", () =>
  expect(() => openDatabase(join(tempDir(), "missing", "x.db"), format(first))).toThrow(
    expect.objectContaining({ code: "store_unavailable" }),
  ));

const parts = ["", "-wal", "-shm"];
/** All ways to choose one or more of them. */
const choices = [1, 2, 3, 4, 5, 6, 7].map((bits) => parts.filter((_, n) => bits & (1 << n)));
const ways = {
  removed: (file: string) => rmSync(file),
  moved: (file: string) => renameSync(file, `${file}.away`),
  replaced: (file: string) => {
    writeFileSync(`${file}.new`, "another's");
    renameSync(`${file}.new`, file);
  },
};
const losses = Object.entries(ways).flatMap(([how, lose]) =>
  choices.map((chosen) => ({
    files: chosen.map((part) => `state.db${part}`).join(", "),
    how,
    lose: (path: string) => chosen.forEach((part) => lose(path + part)),
    savedAs: how === "replaced" && chosen.includes("") ? "state.db.saved" : "state.db",
  })),
);

test.each(losses)(
  "a store whose $files is $how saves all that it has as $savedAs",
  async (loss) => {
    const dir = tempDir();
    const path = join(dir, ".al", "state.db");
    const store = tempStore(dir);
    const enqueue = (ids: readonly string[]) => store.work.enqueue(ids.map((id) => manualItem(id)));
    await enqueue(["a", "b"]);
    expect(store.files.areInPlace()).toBe(true);
    loss.lose(path);
    await enqueue(["c"]);
    expect(store.files.areInPlace()).toBe(false);
    expect(store.files.save()).toBe(join(dir, ".al", loss.savedAs));
    await enqueue(["d"]);
    store.close();
    renameSync(join(dir, ".al", loss.savedAs), path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const part of ["-wal", "-shm"]) rmSync(path + part, { force: true });
    const { triggers } = tempStore(dir).history.query(wholeHistory);
    expect(triggers.map(({ id }) => id).sort()).toEqual(["a", "b", "c", "d"]);
  },
);
