import { existsSync, renameSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../errors.ts";
import { createPrivately, inodeOf } from "./private-file.ts";

/** The log and its index, without which the database itself is not whole. */
const besides = ["-wal", "-shm"];

/** The files of an open database: SQLite goes on writing to them when they were removed, moved or replaced. */
export interface DatabaseFiles {
  /** Whether another process that opens the database gets the same files. */
  areInPlace(): boolean;
  /**
   * Writes all that is in the database to its path again, or beside it where another file took its place, and returns
   * the file. Again: the same file anew. Throws when it can't be written.
   */
  save(): string;
}

export function createDatabaseFiles(db: DatabaseSync, path: string): DatabaseFiles {
  const inodes = () => ["", ...besides].map((part) => inodeOf(path + part));
  const opened = inodes();
  let saved: bigint | null = null;
  const target = (): string => {
    const isOwn = [null, opened[0], saved].includes(inodeOf(path));
    return isOwn ? path : `${path}.saved`;
  };
  return {
    areInPlace: () => inodes().every((inode, n) => [null, inode].includes(opened[n] ?? null)),
    save: () => {
      const file = target();
      const draft = `${file}.${process.pid}.new`;
      rmSync(draft, { force: true });
      createPrivately(draft);
      db.prepare("VACUUM INTO ?").run(draft);
      // They belong to no file that is here now.
      for (const part of besides) rmSync(file + part, { force: true });
      renameSync(draft, file);
      saved = inodeOf(file);
      return file;
    },
  };
}

/** Opens a database that is worth less than a start: one that is damaged is moved aside, and a new one made. */
export function orAside<T>(
  path: string,
  open: () => T,
  isWorthless: (error: unknown) => boolean,
  onProblem: (message: string) => void,
): T {
  try {
    return open();
  } catch (error) {
    if (!isWorthless(error)) throw error;
    const aside = `${path}.damaged-${new Date().toISOString().replaceAll(":", "")}`;
    for (const part of ["", ...besides])
      if (existsSync(path + part)) renameSync(path + part, aside + part);
    onProblem(`${messageOf(error)}: it was moved to ${aside}, and a new one is made`);
    return open();
  }
}
