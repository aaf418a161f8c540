import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { TreeEntry, TreeFile } from "../../../foundation/contracts/file-tree.ts";

/** A file became shorter, or another kind of file, since it was listed. */
export class ChangedFile extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} changed while it was read`);
    this.path = path;
  }
}

const chunkBytes = 64 * 1024;
/** Without waiting for a writer, should the file have become a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The listed files below `root` with their contents, of the listed lengths even if they grow. The contents throw a
 * `ChangedFile`. A folder that became a link is followed: this process has the rights of the agent, which could have copied
 * the files.
 */
export function readFiles(root: string, files: readonly TreeFile[]): readonly TreeEntry[] {
  return files.map((file) => ({ ...file, content: contentOf(root, file) }));
}

async function* contentOf(root: string, { path, bytes }: TreeFile): AsyncGenerator<Buffer> {
  const opened = await open(join(root, path), flags).catch(() => null);
  if (opened === null) throw new ChangedFile(path);
  await using handle = opened;
  if (!(await handle.stat()).isFile()) throw new ChangedFile(path);
  yield* firstBytes(handle, path, bytes);
}

async function* firstBytes(file: FileHandle, path: string, bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0;) {
    const buffer = Buffer.allocUnsafe(Math.min(left, chunkBytes));
    const { bytesRead } = await file.read({ buffer });
    if (bytesRead === 0) throw new ChangedFile(path);
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
