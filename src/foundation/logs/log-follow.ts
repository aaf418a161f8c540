import { join } from "node:path";
import type { LogLine, LogQuery } from "./log-query.ts";
import { listLogFiles, type LogFile } from "./log-files.ts";
import { findPosition, lastLineEnd, statOf } from "./log-position.ts";
import { readLog } from "./log-reader.ts";
import { Observable } from "rxjs";
import type { FileCheck } from "./file-checks.ts";
import { toLogLine } from "./log-lines.ts";
import type { AppendedLines } from "./log-writer.ts";
import type { RawLine, ReadLines } from "./read-lines.ts";

interface FollowDeps extends StartDeps {
  /** Lines of the followed files, as they are appended. */
  readonly appended$: Observable<AppendedLines>;
  /** Checks of the followed files, repeatedly. */
  readonly check$: Observable<FileCheck>;
  readonly read: ReadLines;
}

/**
 * The lines so far, then each new one. The follower knows its place in each file: appended lines that start there go
 * through, older ones were shown already, and where some are missing in between the file is read from the place on.
 * So nothing is lost or doubled between the file and the appended lines, and nothing is buffered meanwhile.
 *
 *     file:      a b c d e f
 *     appended:      d─────e─f    subscribed first
 *     read:      a b c d          the backlog, when d already exists
 *     out:       (abcd)────e─f
 */
export function followLog(query: LogQuery, deps: FollowDeps): Observable<LogLine> {
  return new Observable((subscriber) => {
    /** Null until the backlog is read. */
    let places: Map<string, Place> | null = null;
    const unread = new Map<string, LogFile>();
    let isReading = true;
    const fail = (error: unknown): void => subscriber.error(error);

    const show = (place: Place, file: LogFile, raw: RawLine): void => {
      place.offset = raw.end;
      const line = toLogLine(raw, file, query.instanceId);
      if (line) subscriber.next(line);
    };

    const onAppended = ({ file, inode, lines }: AppendedLines): void => {
      const place = places && placeIn(places, file, inode);
      const [first, last] = [lines[0], lines.at(-1)];
      if (place && last && last.end <= place.offset) return;
      if (!place || isReading || first?.start !== place.offset) return read(file);
      for (const raw of lines) show(place, file, raw);
    };

    const onCheck = ({ file, inode, size }: FileCheck): void => {
      if (places === null) return;
      let place = placeIn(places, file, inode);
      if (size < place.offset && place.offset !== Infinity) {
        places.set(file.name, (place = { offset: 0, inode, size: 0 }));
      }
      const hasGrown = size > place.offset && size !== place.size;
      place.size = size;
      if (hasGrown) read(file);
    };

    const read = (file: LogFile): void => {
      unread.set(file.name, file);
      if (!isReading) void readUnread().catch(fail);
    };

    const readUnread = async (): Promise<void> => {
      isReading = true;
      for (let file = oldest(unread); file && !subscriber.closed; file = oldest(unread)) {
        unread.delete(file.name);
        await readFrom(places?.get(file.name) ?? newPlace(file), file);
      }
      isReading = false;
    };

    const newPlace = ({ name }: LogFile): Place => {
      const place = { offset: 0, inode: null, size: 0 };
      places?.set(name, place);
      return place;
    };

    const readFrom = async (place: Place, file: LogFile): Promise<void> => {
      if (place.offset === Infinity) return;
      const path = join(deps.dir, file.name);
      // Another file may take the name meanwhile.
      const isOver = () => subscriber.closed || places?.get(file.name) !== place;
      for (;;) {
        const lines = await deps.read(path, place.offset);
        if (lines.length === 0 || isOver()) return;
        for (const raw of lines) show(place, file, raw);
      }
    };

    const begin = async (): Promise<void> => {
      const start = await startOf(query, deps);
      for (const line of start.backlog) subscriber.next(line);
      for (const file of start.unread) unread.set(file.name, file);
      places = start.places;
      await readUnread();
    };

    // Before the backlog is read, so that no line is lost between the two.
    subscriber.add(deps.appended$.subscribe({ next: onAppended, error: fail }));
    subscriber.add(deps.check$.subscribe({ next: onCheck, error: fail }));
    begin().catch(fail);
  });
}

/** The place in the file of this inode: its start if it replaced another file of the name. */
function placeIn(places: Map<string, Place>, { name }: LogFile, inode: number): Place {
  const known = places.get(name);
  if (known && (known.inode ?? inode) === inode) {
    known.inode = inode;
    return known;
  }
  const place = { offset: 0, inode, size: 0 };
  places.set(name, place);
  return place;
}

function oldest(files: ReadonlyMap<string, LogFile>): LogFile | undefined {
  let first: LogFile | undefined;
  for (const file of files.values()) if (!first || file.date < first.date) first = file;
  return first;
}

/** How far a follower is in a log file. */
export interface Place {
  /** Where the next line starts. Infinity: no line of this file is wanted. */
  offset: number;
  /** Identifies the file among others of its name; null until it is known. */
  inode: number | null;
  /** The file's size at the last check. */
  size: number;
}

interface StartDeps {
  readonly dir: string;
  /** The agent whose files are followed; null for all. */
  readonly agent: string | null;
  /** Files before this UTC date get no new lines. */
  readonly firstDate: () => string;
}

/** Where a follower begins. */
interface FollowStart {
  readonly places: Map<string, Place>;
  readonly backlog: readonly LogLine[];
  /** Files to read from their places. */
  readonly unread: readonly LogFile[];
}

/** A known position of one agent is resumed at any age; else the last lines are the backlog. */
async function startOf(query: LogQuery, deps: StartDeps): Promise<FollowStart> {
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

/** The backlog is read after the files' ends and may go beyond them. */
function passLine(places: Map<string, Place>, id: string): void {
  const colon = id.lastIndexOf(":");
  const [name, end] = [id.slice(0, colon), Number(id.slice(colon + 1))];
  const place = places.get(name);
  if (place) place.offset = Math.max(end, place.offset);
  else places.set(name, { offset: end, inode: null, size: 0 });
}
