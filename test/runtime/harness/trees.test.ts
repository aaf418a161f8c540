import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tempDir } from "../../helpers/temp-dir.ts";
import { never } from "../run-api/support.ts";
import { aFile, aTree, treeLimits, treeTest } from "./tree-side.ts";

const { side, workDir, inRun, treesOf, write, pack, stored } = treeTest();

describe("a run's folder", () => {
  test("is sent at the run's end, with hidden files and executable ones", async () => {
    await write("out/report.md", "# Report");
    await write("out/.hidden", "");
    await write("out/bin/go", "#!/bin/sh", 0o755);
    expect(await pack()).toEqual([]);
    expect(stored()).toEqual({
      ".hidden": aFile(""),
      "bin/go": aFile("#!/bin/sh", true),
      "report.md": aFile("# Report"),
    });
  });

  test("is received before the run begins, and sent again", async () => {
    const files = { "notes.md": aFile("remember"), "a/b/c.sh": aFile("exit", true) };
    side().trees.trees.set("memory", files);
    const trees = treesOf(aTree("memory", { get: true }));
    await trees.unpack(never);
    expect(await readFile(inRun("memory/notes.md"), "utf8")).toBe("remember");
    expect((await stat(inRun("memory/a/b/c.sh"))).mode & 0o777).toBe(0o700);
    await appendFile(inRun("memory/notes.md"), " this");
    await trees.pack(never);
    const kept = { ...files, "notes.md": aFile("remember this") };
    expect(side().trees.trees.get("memory")).toEqual(kept);
    expect(trees.warnings).toEqual([]);
    expect(await readdir(workDir())).toEqual(["memory"]);
  });

  test("makes no request while it is missing or empty", async () => {
    await pack();
    await mkdir(inRun("out/empty"), { recursive: true });
    expect(await pack()).toEqual([]);
    expect(side().trees.uploads).toBe(0);
  });

  test("whose received files were all removed is sent as empty", async () => {
    side().trees.trees.set("memory", { a: aFile("x") });
    const trees = treesOf(aTree("memory", { get: true }));
    await trees.unpack(never);
    execFileSync("rm", ["-r", inRun("memory")]);
    await trees.pack(never);
    expect(side().trees.trees.get("memory")).toEqual({});
  });

  test("that could not be received is not sent, and the run goes on", async () => {
    await write("memory/mine", "other files");
    side().trees.trees.set("memory", { a: aFile("x") });
    const trees = treesOf(aTree("memory", { get: true }));
    await trees.unpack(never);
    await trees.pack(never);
    expect(trees.warnings).toEqual([expect.stringContaining("is there already")]);
    expect(side().trees.uploads).toBe(0);
    expect(await readdir(inRun("memory"))).toEqual(["mine"]);
    expect(await readdir(workDir())).toEqual(["memory"]);
    const required = treesOf(aTree("memory", { get: true, isRequired: true }));
    await expect(required.unpack(never)).rejects.toThrow("is there already");
  });

  test("may be below the home directory, but follows no link on the way", async () => {
    side().trees.trees.set("cache/0", { a: aFile("x") });
    const cache = aTree("cache/0", { path: "~/.npm/_cacache", get: true });
    await treesOf(cache).unpack(never);
    expect(await readFile(inRun(".npm/_cacache/a"), "utf8")).toBe("x");
    const elsewhere = tempDir();
    await symlink(elsewhere, inRun("linked"));
    const linked = treesOf({ ...cache, path: "~/linked/_cacache" }, { ...cache, path: "linked" });
    await linked.unpack(never);
    expect(linked.warnings).toHaveLength(2);
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await readdir(workDir())).toEqual([".npm", "linked"]);
  });

  test("is received whole or not at all", async () => {
    side().trees.trees.set("memory", { a: aFile("x"), B: aFile("y"), b: aFile("z") });
    const trees = treesOf(aTree("memory", { get: true }));
    await trees.unpack(never);
    expect(trees.warnings).toEqual([expect.stringContaining("in case only")]);
    expect(await readdir(workDir())).toEqual([]);
  });

  test("is not sent if the scheduler refuses it, and logs the reason", async () => {
    await write("foreign/a", "x");
    expect(await pack(aTree("foreign"))).toEqual(["foreign is not kept: This run has no files."]);
    await write("out/a", "x");
    side().trees.answer = { kept: 1, problems: ["The oldest files were removed."] };
    expect(await pack()).toEqual(["The oldest files were removed."]);
  });
});

describe("left out of a run's folder", () => {
  test("are links, pipes and sockets, which a warning names", async () => {
    await write("out/a", "x");
    await symlink("/etc/passwd", inRun("out/link"));
    await symlink("/etc", inRun("out/folder"));
    await symlink("nowhere", inRun("out/dangling"));
    execFileSync("mkfifo", [inRun("out/pipe")]);
    const server = createServer().listen(inRun("out/socket"));
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const [warning] = await pack();
    expect(Object.keys(stored() ?? {})).toEqual(["a"]);
    expect(warning).toBe(
      "out: 5 files left out: dangling is a link; folder is a link; link is a link; " +
        "pipe is not a regular file; socket is not a regular file",
    );
    expect(side().trees.leftOut).toHaveLength(5);
  });

  test("are named up to 100, and counted", async () => {
    await write("out/a", "x");
    for (let index = 0; index < 130; index += 1) await symlink("a", inRun(`out/link${index}`));
    await pack(aTree("out", { limits: { ...treeLimits, entries: 200 } }));
    expect(side().trees.leftOut).toHaveLength(100);
    expect(side().trees.more).toBe(30);
  });

  test("is a folder that is a link itself", async () => {
    await symlink("/etc", inRun("out"));
    expect(await pack()).toEqual(["out is not kept: it is not a folder."]);
    expect(side().trees.uploads).toBe(0);
  });

  test("are names that no tree can have, and the second of a case pair", async () => {
    for (const name of ["line\nbreak", "back\\slash", "e\u0301", "A", "a", "x".repeat(61)]) {
      await write(`out/${name}`, "x");
    }
    await write("out/1/2/3/4", "deep enough");
    await write("out/2/3/4/5/6", "too deep");
    await writeFile(Buffer.concat([Buffer.from(inRun("out/")), Buffer.from([0xff])]), "x");
    await pack();
    expect(Object.keys(stored() ?? {})).toEqual(["1/2/3/4", "A"]);
    expect(side().trees.leftOut).toHaveLength(6);
  });

  test("are files beyond the limits, in the order of names, or the whole folder", async () => {
    const limits = { ...treeLimits, bytes: 10, fileBytes: 6, entries: 4 };
    await write("out/a", "12345");
    await write("out/b", "1234567");
    await write("out/c", "123456");
    await write("out/d", "1234");
    expect(await pack(aTree("out", { limits }))).toEqual([
      "out is not kept: b has more than 6 bytes.",
    ]);
    expect(side().trees.uploads).toBe(0);
    await pack(aTree("out", { limits, keepsWhatFits: true }));
    expect(Object.keys(stored() ?? {})).toEqual(["a", "d"]);
    expect(side().trees.leftOut).toEqual([
      { path: "b", why: "has more than 6 bytes", bytes: 7 },
      { path: "c", why: "does not fit: 10 bytes are the most for all files", bytes: 6 },
    ]);
  });

  test("are names beyond the limit, of which no more are read", async () => {
    for (let index = 0; index < 200; index += 1) await write(`out/${index}`, "");
    const limits = { ...treeLimits, entries: 20 };
    expect(await pack(aTree("out", { limits }))).toEqual([
      "out is not kept: it has too many names: 20 files and folders are the most.",
    ]);
    await pack(aTree("out", { limits, keepsWhatFits: true }));
    expect(Object.keys(stored() ?? {})).toHaveLength(20);
  });

  test("is a sparse file by its length", async () => {
    await write("out/a", "x");
    await truncate(inRun("out/a"), 2 ** 40);
    expect(await pack()).toEqual([expect.stringContaining("a has more than")]);
  });
});

describe("a file that changes while it is read", () => {
  /** Calls `act` when the first of the files has arrived. */
  const afterFirst = (act: () => Promise<void> | void): void => {
    side().trees.onEntry = async ({ path }) => {
      side().trees.onEntry = () => undefined;
      if (path === "a") await act();
    };
  };
  /** Longer than what the connection and its buffers hold. */
  const long = "x".repeat(400_000);

  test("is sent with its first length if it grows", async () => {
    await write("out/a", "1");
    await write("out/b", long);
    afterFirst(() => appendFile(inRun("out/b"), "more"));
    expect(await pack()).toEqual([]);
    expect(stored()?.b?.content).toBe(long);
  });

  test("is left out if it becomes shorter, and the others are sent", async () => {
    for (const name of ["a", "b", "c", "d", "e"])
      await write(`out/${name}`, long.slice(0, 190_000));
    afterFirst(() => truncate(inRun("out/e"), 10));
    expect(await pack()).toEqual(["out: e changed while it was read, and is not kept."]);
    expect(Object.keys(stored() ?? {})).toEqual(["a", "b", "c", "d"]);
    expect(side().trees.leftOut).toEqual([{ path: "e", why: "changed while it was read" }]);
  });

  test("is left out if it becomes a link or a pipe", async () => {
    for (const name of ["a", "b", "c", "d", "e"])
      await write(`out/${name}`, long.slice(0, 190_000));
    afterFirst(() => {
      const script = 'ln -sf /etc/passwd "$1/d" && rm "$1/e" && mkfifo "$1/e"';
      execFileSync("sh", ["-c", script, "sh", inRun("out")]);
    });
    expect(await pack()).toHaveLength(2);
    expect(Object.keys(stored() ?? {})).toEqual(["a", "b", "c"]);
  });
});
