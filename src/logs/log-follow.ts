import { join } from "node:path";
import { Observable } from "rxjs";
import type { LogLine, LogQuery } from "../contracts/log-source.ts";
import { toLogLine } from "./file-lines.ts";
import { listLogFiles } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { findPosition, lastLineEnd } from "./log-position.ts";
import { readLog } from "./log-reader.ts";
import { readForward } from "./read-lines.ts";
import type { RawLine } from "./read-lines.ts";
import type { TailEvent } from "./file-tail.ts";

/** What following needs. */
export interface FollowEdges {
  readonly dir: string;
  /** New lines of the query's agents, from the moment of subscribing. */
  readonly live$: Observable<TailEvent>;
  /** The agent whose files are followed; null for all. */
  readonly agent: string | null;
  /** Files before this UTC date get no new lines. */
  readonly firstDate: () => string;
}

/**
 * The lines so far, then each new one. It knows how far it is in each file: a live line that starts there goes
 * through, an older one was shown already, and where one is missing in between it reads the file up to it. So
 * nothing is lost or doubled between the two, and nothing has to be kept meanwhile.
 *
 *     file:   a b c d e f
 *     live:       d─────e─f       subscribed first
 *     read:   a b c d             the backlog, when d is there already
 *     out:    (abcd)────e─f
 */
export function followLog(query: LogQuery, edges: FollowEdges): Observable<LogLine> {
  const { dir, live$ } = edges;
  return new Observable((subscriber) => {
    const positions = new Map<string, number>();
    const behind = new Map<string, LogFile>();
    let reading = true;

    const show = (file: LogFile, raw: RawLine): void => {
      positions.set(file.name, raw.end);
      const line = toLogLine(raw, file, query.instanceId);
      if (line) subscriber.next(line);
    };

    const onEvent = (event: TailEvent): void => {
      const { file } = event;
      const position = positions.get(file.name) ?? 0;
      if (event.type === "restarted") positions.set(file.name, 0);
      if (event.type === "line") {
        if (event.line.end <= position) return;
        if (!reading && event.line.start === position) return show(file, event.line);
      }
      behind.set(file.name, file);
      if (!reading) void catchUp();
    };

    const catchUp = async (): Promise<void> => {
      reading = true;
      try {
        for (let file = oldest(behind); file && !subscriber.closed; file = oldest(behind)) {
          behind.delete(file.name);
          await readOn(file);
        }
      } catch (error) {
        subscriber.error(error);
      }
      reading = false;
    };

    const readOn = async (file: LogFile): Promise<void> => {
      const start = positions.get(file.name) ?? 0;
      if (start === Infinity) return;
      for await (const raw of readForward(join(dir, file.name), start)) {
        if (subscriber.closed) return;
        show(file, raw);
      }
    };

    const begin = async (): Promise<void> => {
      try {
        const start = await startOf(query, edges);
        for (const [name, offset] of start.positions) positions.set(name, offset);
        for (const line of start.backlog) subscriber.next(line);
        for (const file of start.behind) behind.set(file.name, file);
        await catchUp();
      } catch (error) {
        subscriber.error(error);
      }
    };

    subscriber.add(live$.subscribe({ next: onEvent, error: (error) => subscriber.error(error) }));
    void begin();
  });
}

interface Start {
  readonly positions: Map<string, number>;
  readonly backlog: readonly LogLine[];
  /** Files to read on in at once. */
  readonly behind: readonly LogFile[];
}

/** Where each file is gone on with. A known position of one agent is read on from, however far behind it is. */
async function startOf(query: LogQuery, { dir, agent, firstDate }: FollowEdges): Promise<Start> {
  const files = await listLogFiles(dir, agent);
  const after = await findPosition(dir, query.after);
  if (agent !== null && after?.file.agent === agent) {
    const at = (file: LogFile): number =>
      file.name === after.file.name ? after.offset : file.date < after.file.date ? Infinity : 0;
    const positions = new Map(files.map((file) => [file.name, at(file)]));
    return { positions, backlog: [], behind: files };
  }
  const positions = new Map<string, number>();
  for (const { name, date } of files) {
    if (date >= firstDate()) positions.set(name, await lastLineEnd(join(dir, name)));
  }
  const backlog = await readLog(dir, query);
  // The backlog was read later than the ends and may go beyond them.
  for (const { id } of backlog) {
    const colon = id.lastIndexOf(":");
    const [name, end] = [id.slice(0, colon), Number(id.slice(colon + 1))];
    positions.set(name, Math.max(end, positions.get(name) ?? 0));
  }
  return { positions, backlog, behind: [] };
}

function oldest(files: ReadonlyMap<string, LogFile>): LogFile | undefined {
  let first: LogFile | undefined;
  for (const file of files.values()) if (!first || file.date < first.date) first = file;
  return first;
}
