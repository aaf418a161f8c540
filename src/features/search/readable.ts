import { accessSync, constants, statSync } from "node:fs";

/**
 * The size of a log file in bytes; null when there is none, or it can't be read. What is no file counts as none: opening
 * a pipe would wait for its writer.
 */
export function readableSize(path: string): number | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return null;
    accessSync(path, constants.R_OK);
    return stats.size;
  } catch {
    return null;
  }
}
