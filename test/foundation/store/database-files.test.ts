import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualItem, tempDir, tempStore, wholeHistory } from "./support.ts";

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
