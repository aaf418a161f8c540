import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import {
  installedProgram,
  programMain,
} from "../../../../../src/runtime/runners/container/image/program.ts";
import { packTar } from "../../../../../src/runtime/runners/container/image/archive.ts";
import { tempDir } from "../../../../helpers/temp-dir.ts";

const run = promisify(execFile);

let dir: string;
beforeEach(async () => {
  dir = tempDir();
  await file("package.json", `{"name":"almanac","version":"2.0.0","type":"module"}`);
  await file(programMain, `import { say } from "../chunks/say.js"; say();`);
  await file("dist/src/chunks/say.js", `export const say = () => console.log("running");`);
  await file("dist/.built");
  await file("node_modules/unneeded/package.json", "{}");
});

async function file(path: string, text = ""): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
}

/** Packs the program and unpacks it with the system's tar elsewhere; the names in the archive. */
async function unpacked(): Promise<{ names: string[]; at: string }> {
  const program = await installedProgram(dir);
  const archive = join(dir, "program.tar");
  await writeFile(archive, Readable.from(packTar(program.entries("program"))));
  const out = join(dir, "out");
  await mkdir(out, { recursive: true });
  await run("tar", ["-xf", archive, "-C", out]);
  const { stdout } = await run("tar", ["-tf", archive]);
  return { names: stdout.trim().split("\n"), at: join(out, "program") };
}

test("the program that is packed for images contains the manifest and the build, with long names and modes", async () => {
  const long = `dist/${"long-ä/".repeat(30)}name`;
  await file(long, "found");
  await file("dist/empty");
  await file("dist/tool.sh", "#!/bin/sh\necho ran\n");
  await chmod(join(dir, "dist/tool.sh"), 0o755);
  const { names, at } = await unpacked();
  const outputOf = async (...[name = "", ...args]: string[]) => (await run(name, args)).stdout;
  expect(await outputOf(process.execPath, join(at, programMain))).toBe("running\n");
  expect(await outputOf(join(at, "dist/tool.sh"))).toBe("ran\n");
  expect(await readFile(join(at, long), "utf8")).toBe("found");
  expect(await readFile(join(at, "dist/empty"), "utf8")).toBe("");
  expect(names.filter((name) => /src|json|built/.test(name))).toEqual([
    "program/package.json",
    "program/dist/src",
    "program/dist/src/chunks",
    "program/dist/src/chunks/say.js",
    "program/dist/src/cli",
    "program/dist/src/cli/al.js",
  ]);
});

test("the program that is packed for images changes its hash only if its own files change", async () => {
  const hash = async () => (await installedProgram(dir)).hash;
  const before = await hash();
  await file("README.md", "text");
  await file("dist/.built", "now");
  await file("node_modules/unneeded/package.json", `{"version":"2.0.0"}`);
  expect(await hash()).toBe(before);
  await file(programMain, "changed");
  expect(await hash()).not.toBe(before);
});
