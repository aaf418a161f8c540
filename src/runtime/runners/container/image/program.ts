import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hashEntries, walk, type TarEntry } from "./archive.ts";

/** The installed program: its manifest and its build, which includes the used parts of packages. */
export interface Program {
  readonly version: string;
  /** Changes with any of the files. */
  readonly hash: string;
  /** All files, with paths below `path`. */
  entries(path: string): AsyncIterable<TarEntry>;
}

/** Path of the program's entry below its folder. */
export const programMain = "dist/src/cli/al.js";

/** The program installed at `root`, the folder of its package.json. */
export async function installedProgram(root: string): Promise<Program> {
  const manifest = await readFile(join(root, "package.json"));
  const { version = "0.0.0" } = JSON.parse(manifest.toString()) as { version?: string };
  async function* entries(path: string): AsyncGenerator<TarEntry> {
    yield { type: "content", path: join(path, "package.json"), content: manifest };
    yield* walk(join(root, "dist"), join(path, "dist"), isStamp);
  }
  return { version, hash: await hashEntries(entries("")), entries };
}

/** A clone's build writes its time into such a file. */
function isStamp(name: string): boolean {
  return name.startsWith(".");
}
