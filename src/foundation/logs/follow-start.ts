import { join } from "node:path";
import type { LogLine, LogQuery } from "../contracts/log-source.ts";
import { listLogFiles } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { findPosition, lastLineEnd, statOf } from "./log-position.ts";
import { readLog } from "./log-reader.ts";

/** How far a follower is in a log file. */
export interface Place {
  /** Where the next line starts. Infinity: no line of this file is wanted. */
  offset: number;
  /** Tells the file from another that takes its name; null until it is known. */
  inode: number | null;
  /** The file's size when it was checked last. */
  size: number;
}

export interface StartDeps {
  readonly dir: string;
  /** The agent whose files are followed; null for all. */
  readonly agent: string | null;
  /** Files before this UTC date get no new lines. */
  readonly firstDate: () => string;
}

/** Where a follower begins. */
export interface FollowStart {
  readonly places: Map<string, Place>;
  readonly backlog: readonly LogLine[];
  /** Files to read from their places on. */
  readonly unread: readonly LogFile[];
}

/** A known position of one agent is read on from, however long ago it was; else the last lines are the backlog. */
export async function startOf(query: LogQuery, deps: StartDeps): Promise<FollowStart> {
  const { dir, agent, firstDate } = deps;
  const files = await listLogFiles(dir, agent);
  const after = await findPosition(dir, query.after);
  const places = new Map<string, Place>();
  if (agent !== null && after?.file.agent === agent) {
    for (const { name, date } of files) {
      const offset =
        name === after.file.name ? after.offset : date < after.file.date ? Infinity : 0;
      places.set(name, { offset, inode: null, size: 0 });
    }
    return { places, backlog: [], unread: files };
  }
  for (const { name, date } of files) {
    if (date >= firstDate()) places.set(name, await endOf(join(dir, name)));
  }
  const backlog = await readLog(dir, query);
  for (const { id } of backlog) passLine(places, id);
  return { places, backlog, unread: [] };
}

async function endOf(path: string): Promise<Place> {
  const inode = (await statOf(path))?.ino ?? null;
  return { offset: await lastLineEnd(path), inode, size: 0 };
}

/** The backlog is read later than the files' ends and may go beyond them. */
function passLine(places: Map<string, Place>, id: string): void {
  const colon = id.lastIndexOf(":");
  const [name, end] = [id.slice(0, colon), Number(id.slice(colon + 1))];
  const place = places.get(name);
  if (place) place.offset = Math.max(end, place.offset);
  else places.set(name, { offset: end, inode: null, size: 0 });
}
