import { mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { writeBelow } from "../../../../src/interfaces/cli/files/write-below.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const file = (path: string, text = "new", isExecutable = false) => {
  return { path, isExecutable, content: Readable.from([Buffer.from(text)]) };
};

describe("writeBelow", () => {
  test("writes files with their folders and modes", async () => {
    const dir = tempDir();
    await writeBelow(dir, [file("a/b.txt", "b"), file("run.sh", "echo", true)], false);
    expect(await readFile(join(dir, "a/b.txt"), "utf8")).toBe("b");
    expect((await stat(join(dir, "run.sh"))).mode & 0o100).toBe(0o100);
    expect((await readdir(dir)).sort()).toEqual(["a", "run.sh"]);
  });

  test("writes nothing if one of the files exists, unless it is forced", async () => {
    const dir = tempDir();
    await writeFile(join(dir, "b.txt"), "mine");
    const files = () => [file("a.txt"), file("b.txt")];
    await expect(writeBelow(dir, files(), false)).rejects.toThrow("b.txt exists already");
    expect(await readdir(dir)).toEqual(["b.txt"]);
    await writeBelow(dir, files(), true);
    expect(await readFile(join(dir, "b.txt"), "utf8")).toBe("new");
  });

  test.each(["../out.txt", "a/../../out.txt", "/etc/out.txt", "a\\b", "a\u001b]0;title\u0007"])(
    "refuses the path %j",
    async (path) => {
      const dir = tempDir();
      await expect(writeBelow(dir, [file(path)], true)).rejects.toThrow("the path");
      expect(await readdir(dir)).toEqual([]);
    },
  );

  test("does not follow a link, neither on the way to a file nor in its place", async () => {
    const [dir, outside] = [tempDir(), tempDir()];
    await writeFile(join(outside, "mine.txt"), "mine");
    await symlink(outside, join(dir, "folder"));
    await symlink(join(outside, "mine.txt"), join(dir, "linked.txt"));
    await expect(writeBelow(dir, [file("folder/a.txt")], true)).rejects.toThrow("is not a folder");
    await writeBelow(dir, [file("linked.txt")], true);
    expect(await readFile(join(outside, "mine.txt"), "utf8")).toBe("mine");
    expect(await readFile(join(dir, "linked.txt"), "utf8")).toBe("new");
    expect(await readdir(outside)).toEqual(["mine.txt"]);
  });

  test("leaves no draft behind when a content can't be read", async () => {
    const dir = tempDir();
    await mkdir(join(dir, "a"));
    const broken = { ...file("a/b.txt"), content: failing() };
    await expect(writeBelow(dir, [broken], false)).rejects.toThrow("a/b.txt can't be written");
    expect(await readdir(join(dir, "a"))).toEqual([]);
  });
});

async function* failing(): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from("half"));
  throw new Error("gone");
}
