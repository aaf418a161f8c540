import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { bytesText } from "../../../foundation/contracts/format.ts";
import {
  createTreePaths,
  maxLeftOut,
  pathProblem,
  type LeftOutFile,
  type TreeFile,
  type TreeLimits,
} from "../../../foundation/contracts/file-tree.ts";
import { isMissing, messageOf } from "../../../foundation/errors.ts";

/** The files of a folder. */
export interface ListedFiles {
  /** In the order of their names. */
  readonly files: readonly TreeFile[];
  /** The first `maxLeftOut` files that are left out. */
  readonly leftOut: readonly LeftOutFile[];
  readonly leftOutCount: number;
  /** Why the folder is over its limits, for a person; null if it is not, or what fits is listed. */
  readonly over: string | null;
}

/**
 * Lists the files below a folder that a tree can have. Links, devices and names that a tree can't have are left out; so are, with
 * `keepsWhatFits`, files beyond the limits. Looks at a limited number of names, however many there are.
 */
export async function listFiles(
  root: string,
  limits: TreeLimits,
  keepsWhatFits: boolean,
): Promise<ListedFiles> {
  const paths = createTreePaths(limits);
  const files: TreeFile[] = [];
  const leftOut: LeftOutFile[] = [];
  let leftOutCount = 0;
  let over: string | null = null;
  let bytes = 0;
  let looked = 0;
  const leave = (path: string, why: string, size?: number): void => {
    leftOutCount += 1;
    if (leftOut.length < maxLeftOut) leftOut.push({ path, why, bytes: size });
  };
  const exceed = (path: string, why: string, size?: number): void => {
    if (keepsWhatFits) leave(path, why, size);
    else over ??= `${path} ${why}`;
  };
  const addFile = (path: string, size: number, isExecutable: boolean): void => {
    if (size > limits.fileBytes) {
      return exceed(path, `has more than ${bytesText(limits.fileBytes)}`, size);
    }
    if (bytes + size > limits.bytes) {
      return exceed(
        path,
        `does not fit: ${bytesText(limits.bytes)} are the most for all files`,
        size,
      );
    }
    const problem = pathProblem(path, limits) ?? paths.add(path);
    if (problem !== null) return leave(path, problem, size);
    bytes += size;
    files.push({ path, bytes: size, isExecutable });
  };
  const look = async (path: string): Promise<void> => {
    const found = await lstat(join(root, path));
    if (found.isDirectory()) return lookIn(path);
    if (found.isFile()) return addFile(path, found.size, (found.mode & 0o100) !== 0);
    leave(path, found.isSymbolicLink() ? "is a link" : "is not a regular file");
  };
  const lookIn = async (folder: string): Promise<void> => {
    if (folder.split("/").length >= limits.depth && folder !== "") {
      return leave(folder, `is deeper than ${limits.depth} names`);
    }
    const { names, hasMore } = await firstNames(join(root, folder), limits.entries - looked);
    looked += names.length;
    if (hasMore) {
      exceed(
        folder || "it",
        `has too many names: ${limits.entries} files and folders are the most`,
      );
    }
    for (const name of names) {
      if (over !== null) return;
      const path = folder === "" ? name : `${folder}/${name}`;
      await look(path).catch((error: unknown) => {
        // Removed meanwhile.
        if (!isMissing(error)) leave(path, `can't be read: ${messageOf(error)}`);
      });
    }
  };
  if ((await lstat(root)).isDirectory()) await lookIn("");
  else over = "it is not a folder";
  return { files, leftOut, leftOutCount, over };
}

/** Names in a folder in their order; if there are more, the first ones that the file system gives. */
async function firstNames(folder: string, most: number) {
  const names: string[] = [];
  // Read one by one: `readdir` would read millions of names into memory.
  for await (const { name } of await opendir(folder)) {
    if (names.length >= most) return { names: names.sort(), hasMore: true };
    names.push(name);
  }
  return { names: names.sort(), hasMore: false };
}
