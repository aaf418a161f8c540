import { hasCode, failureOf } from "../errors.ts";

/** Hint for a database that can't be read. */
export const corruptHint =
  "with no scheduler running (al stop), move the file away together with its -wal and -shm, or restore it from a backup";

/** SQLite adds "-journal" to a path, and all of it may have 512 bytes. */
const maxPathBytes = 504;

/** SQLite's primary result codes, https://www.sqlite.org/rescode.html, and a hint for each. */
const troubles: Readonly<Record<number, { code: string; hint: string }>> = {
  5: { code: "store_unavailable", hint: "another process has locked the database; end it or wait" },
  6: { code: "store_unavailable", hint: "another process has locked the database; end it or wait" },
  7: { code: "store_unavailable", hint: "the machine is out of memory" },
  8: { code: "store_unavailable", hint: "make the file and its directory writable" },
  10: { code: "store_unavailable", hint: "the disk reports an error; check it and its free space" },
  11: { code: "store_corrupt", hint: corruptHint },
  13: { code: "store_unavailable", hint: "free some disk space" },
  14: { code: "store_unavailable", hint: "make the file and its directory readable and writable" },
  26: { code: "store_corrupt", hint: corruptHint },
};

function troubleOf(error: unknown): { code: string; hint: string } | undefined {
  const code = codeOf(error);
  return code === undefined ? undefined : troubles[code];
}

/** The primary result code: the low byte; the rest has more about where it happened. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/**
 * Translates an error of SQLite for a person if the file, the disk or a lock is to blame (codes `store_unavailable` and
 * `store_corrupt`); other errors are returned unchanged.
 */
export function storeError(path: string, error: unknown): unknown {
  const trouble = troubleOf(error);
  if (trouble === undefined) return error;
  const { code } = trouble;
  const bytes = Buffer.byteLength(path);
  const hint =
    bytes > maxPathBytes
      ? `its path has ${bytes} bytes, and SQLite allows ${maxPathBytes}: move the project to a shorter one`
      : trouble.hint;
  return failureOf(code, path, error, hint);
}

/** Whether the file is not a database, or is damaged. */
export function isCorrupt(error: unknown): boolean {
  return hasCode(storeError("", error), "store_corrupt");
}

/** Whether another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === 5;
}

/** Whether the file, the disk or a lock blocks the store for now; also of an error that is translated already. */
export function isUnavailable(error: unknown): boolean {
  return hasCode(storeError("", error), "store_unavailable");
}

/** The result of a read, or `otherwise` if the store can't be read. */
export function unlessUnreadable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (isCorrupt(error) || isUnavailable(error)) return otherwise;
    throw error;
  }
}

/** The same object, whose methods and nested objects throw errors with hints. */
export function withStoreErrors<T extends object>(path: string, store: T): T {
  const members = Object.entries(store).map(([name, member]: [string, unknown]) => {
    if (member && Object.getPrototypeOf(member) === Object.prototype)
      return [name, withStoreErrors(path, member)];
    if (typeof member !== "function") return [name, member];
    const call = (...args: unknown[]): unknown => {
      try {
        return (member as (...args: unknown[]) => unknown)(...args);
      } catch (error) {
        throw storeError(path, error);
      }
    };
    return [name, call];
  });
  return Object.fromEntries(members) as T;
}
