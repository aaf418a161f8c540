import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { packTar } from "../../../../../src/runtime/runners/container/image/archive.ts";
import { tempDir } from "../../../../helpers/temp-dir.ts";

let dir: string;
beforeEach(() => {
  dir = tempDir();
  writeFileSync(join(dir, "a.txt"), "x".repeat(200_000));
});

async function* withSize(size: number) {
  await Promise.resolve();
  yield { type: "file", path: "a.txt", from: join(dir, "a.txt"), size, executable: false } as const;
}

test("packTar emits complete tar blocks, the same each time", async () => {
  const archive = await buffer(packTar(withSize(200_000)));
  expect(archive.length % 512).toBe(0);
  expect(await buffer(packTar(withSize(200_000)))).toEqual(archive);
});

test.each([100_000, 300_000])(
  "packTar rejects a file whose size is not the announced %i bytes",
  (size) => expect(buffer(packTar(withSize(size)))).rejects.toThrow("changed while it was packed"),
);

test("packTar rejects a missing file", async () => {
  rmSync(join(dir, "a.txt"));
  await expect(buffer(packTar(withSize(200_000)))).rejects.toThrow("ENOENT");
});
