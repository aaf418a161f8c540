import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installedProgram } from "../../../../../src/runtime/runners/container/image/program.ts";
import { packTar } from "../../../../../src/runtime/runners/container/image/archive.ts";

const run = promisify(execFile);

describe("the installed program", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "al-installed-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function file(path: string, text = ""): Promise<void> {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  const manifest = (path: string, fields: object) =>
    file(`${path}/package.json`, JSON.stringify({ version: "1.0.0", ...fields }));

  /** Puts a program that needs `dep`, which needs `deep`, where a test says. */
  async function install(at: { program: string; dep: string; deep: string }): Promise<void> {
    await manifest(at.program, { name: "almanac", version: "2.0.0", dependencies: { dep: "1" } });
    await file(`${at.program}/dist/src/cli/al.js`, `import { say } from "dep"; say();`);
    await file(`${at.program}/dist/src/cli/al.d.ts`);
    await manifest(at.dep, {
      name: "dep",
      type: "module",
      main: "x.js",
      dependencies: { deep: "1" },
    });
    await file(
      `${at.dep}/x.js`,
      `import { word } from "deep"; export const say = () => console.log(word);`,
    );
    await file(`${at.dep}/x.js.map`);
    await manifest(at.deep, { name: "deep", type: "module", main: "x.js" });
    await file(`${at.deep}/x.js`, `export const word = "unpacked and running";`);
  }

  /** Packs the program, unpacks it with the system's tar elsewhere, and runs it there. */
  async function unpacked(root: string): Promise<{ said: string; names: string[]; out: string }> {
    const program = await installedProgram(join(dir, root));
    const archive = join(dir, "program.tar");
    await writeFile(archive, Readable.from(packTar(program.entries("program"))));
    const out = join(dir, "out");
    await mkdir(out, { recursive: true });
    await run("tar", ["-xf", archive, "-C", out]);
    const { stdout: listing } = await run("tar", ["-tf", archive]);
    await writeFile(
      join(out, "program", dirname(program.main), "package.json"),
      `{"type":"module"}`,
    );
    const { stdout } = await run(process.execPath, [join(out, "program", program.main)]);
    return { said: stdout.trim(), names: listing.trim().split("\n"), out };
  }

  it.each([
    [
      "nested",
      {
        program: "almanac",
        dep: "almanac/node_modules/dep",
        deep: "almanac/node_modules/dep/node_modules/deep",
      },
    ],
    [
      "hoisted",
      {
        program: "node_modules/almanac",
        dep: "node_modules/dep",
        deep: "node_modules/deep",
      },
    ],
  ])("runs from its packed files when its packages are %s", async (_layout, at) => {
    await install(at);
    await file(`${dirname(at.dep)}/unneeded/package.json`, "{}");
    const { said, names } = await unpacked(at.program);
    expect(said).toBe("unpacked and running");
    expect(names.filter((name) => /unneeded|\.map$|\.d\.ts$/.test(name))).toEqual([]);
  });

  it("runs from its packed files when its packages are links into a store", async () => {
    const store = "node_modules/.store";
    await install({
      program: "almanac",
      dep: `almanac/${store}/dep@1/node_modules/dep`,
      deep: `almanac/${store}/deep@1/node_modules/deep`,
    });
    await symlink(".store/dep@1/node_modules/dep", join(dir, "almanac/node_modules/dep"));
    await symlink(
      "../../deep@1/node_modules/deep",
      join(dir, `almanac/${store}/dep@1/node_modules/deep`),
    );
    expect((await unpacked("almanac")).said).toBe("unpacked and running");
  });

  it("keeps long names, empty files and executables", async () => {
    await install({ program: "a", dep: "a/node_modules/dep", deep: "a/node_modules/deep" });
    const long = `a/dist/${"long-ä/".repeat(30)}name`;
    await file(long, "found");
    await file("a/dist/empty");
    await file("a/dist/tool.sh", "#!/bin/sh\necho ran\n");
    await chmod(join(dir, "a/dist/tool.sh"), 0o755);
    const { out } = await unpacked("a");
    expect(await readFile(join(out, "program", long.slice(2)), "utf8")).toBe("found");
    expect(await readFile(join(out, "program/dist/empty"), "utf8")).toBe("");
    expect((await run(join(out, "program/dist/tool.sh"))).stdout).toBe("ran\n");
  });

  it("changes its hash with its own files and with a package's version, and with nothing else", async () => {
    await install({ program: "a", dep: "a/node_modules/dep", deep: "a/node_modules/deep" });
    const hash = async () => (await installedProgram(join(dir, "a"))).hash;
    const before = await hash();
    await file("a/README.md", "text");
    expect(await hash()).toBe(before);
    await file("a/dist/src/cli/al.js", "changed");
    const changed = await hash();
    expect(changed).not.toBe(before);
    await manifest("a/node_modules/deep", { name: "deep", version: "1.0.1" });
    expect(await hash()).not.toBe(changed);
  });

  it("says which package is missing", async () => {
    await manifest("a", { name: "almanac", dependencies: { gone: "1" } });
    await file("a/dist/x");
    await expect(installedProgram(join(dir, "a"))).rejects.toThrow("the package gone is missing");
  });
});
