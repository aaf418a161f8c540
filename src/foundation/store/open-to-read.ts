import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** Opens a database beside the scheduler that writes it, or without one. Changes nothing, and makes no file. */
export function openToRead(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  // Without a log of its own to read, an ordinary reader would make one beside it.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}
