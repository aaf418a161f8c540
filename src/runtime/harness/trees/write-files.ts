import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { TreeEntry } from "../../../foundation/contracts/file-tree.ts";
import { hasCode, ifMissing, Problem } from "../../../foundation/errors.ts";

/** Where the files of a tree belong. Both are absolute. */
export interface TreeFolder {
  /** A folder that exists, and is trusted: its own path may contain links. */
  readonly base: string;
  readonly path: string;
}

/**
 * Writes the entries to a new folder, which appears once it is whole; an empty one may be there already. Resolves to the
 * number of files. Follows no link below `base`. Rejects with a Problem if something else is there, and with what the
 * entries throw.
 */
export async function writeFiles(
  { base, path }: TreeFolder,
  entries: AsyncIterable<TreeEntry>,
): Promise<number> {
  await makeFolders(base, dirname(path));
  const staged = join(dirname(path), `.tree-${randomBytes(6).toString("hex")}`);
  try {
    await mkdir(staged, { mode: 0o700 });
    const count = await writeAll(staged, entries);
    // Succeeds on an empty folder, and neither on a link nor on a folder with files.
    await rename(staged, path);
    return count;
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    if (!hasCode(error, "ENOTEMPTY", "EEXIST", "ENOTDIR")) throw error;
    throw new Problem("conflict", `${path} is there already, and is not an empty folder.`);
  }
}

async function writeAll(staged: string, entries: AsyncIterable<TreeEntry>): Promise<number> {
  const folders = new Set<string>([staged]);
  let count = 0;
  for await (const { path, isExecutable, content } of entries) {
    const target = join(staged, path);
    const folder = dirname(target);
    if (!folders.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
    folders.add(folder);
    await using file = await open(target, "wx", isExecutable ? 0o700 : 0o600);
    for await (const chunk of content) await file.writeFile(chunk);
    count += 1;
  }
  return count;
}

/** Makes the folders from `base`, which exists, to `folder`. Rejects if a link or a file is on the way. */
async function makeFolders(base: string, folder: string): Promise<void> {
  let at = base;
  for (const name of relative(base, folder).split("/")) {
    if (name === "") continue;
    at = join(at, name);
    const found = await lstat(at).catch(ifMissing(null));
    if (found === null) await mkdir(at, { mode: 0o700 });
    else if (!found.isDirectory()) throw new Problem("conflict", `${at} is not a folder.`);
  }
}
