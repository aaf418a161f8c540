import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LogLine, LogQuery } from "../contracts/log-source.ts";
import { maxLines, tailOf, toLogLine } from "./log-lines.ts";
import { listLogFiles, logFilesBetween, utcDate } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { fileSize, findPosition, lastWrite } from "./log-position.ts";
import type { LogPosition } from "./log-position.ts";
import { mergeLines, mergeTails } from "./merge-lines.ts";
import type { WrittenFile } from "./merge-lines.ts";
import { readBackward, readForward } from "./read-lines.ts";

/**
 * The lines so far, oldest first: the last `lines` of them, or everything after the position `after` when that is
 * known. Over all agents they are merged by time.
 */
export async function readLog(dir: string, query: LogQuery): Promise<LogLine[]> {
  const agent = query.agent ?? agentOf(query.instanceId);
  const files = await filesOf(dir, agent, query.times);
  const position = await findPosition(dir, query.after);
  if (position === null || (agent !== null && position.file.agent !== agent)) {
    return lastLines(dir, files, query);
  }
  if (agent !== null) return sinceInOrder(dir, files, position, query);
  return (await sinceMerged(dir, files, position)) ?? lastLines(dir, files, query);
}

/** The files of a run are known by its days: a directory may have a hundred thousand of them. */
async function filesOf(
  dir: string,
  agent: string | null,
  times: LogQuery["times"],
): Promise<readonly LogFile[]> {
  if (times === undefined) return listLogFiles(dir, agent);
  const named = agent === null ? null : logFilesBetween(agent, times.from, times.to);
  if (named !== null) return named.filter(({ name }) => existsSync(join(dir, name)));
  const [from, to] = [utcDate(times.from), utcDate(times.to)];
  const files = await listLogFiles(dir, agent);
  return files.filter(({ date }) => date >= from && date <= to);
}

/** The agent that an instance id names, `<agent>-<8 characters>`; null when it names none. */
export function agentOf(instanceId: string | null): string | null {
  return /^(.+)-[^-]{8}$/.exec(instanceId ?? "")?.[1] ?? null;
}

function lastLines(
  dir: string,
  files: readonly LogFile[],
  { agent, instanceId, lines }: LogQuery,
): Promise<LogLine[]> {
  const wanted = Math.min(Math.max(lines, 0), maxLines);
  if (wanted === 0) return Promise.resolve([]);
  return agent === null && instanceId === null
    ? lastMerged(dir, files, wanted)
    : lastInOrder(dir, files, wanted, instanceId);
}

async function lastInOrder(
  dir: string,
  files: readonly LogFile[],
  wanted: number,
  instanceId: string | null,
): Promise<LogLine[]> {
  let found: LogLine[] = [];
  for (const file of files.toReversed()) {
    const more = await tailOf(dir, file, wanted - found.length, instanceId);
    // A run's lines lie together: once they are found, a day without any is before its start.
    if (instanceId !== null && found.length > 0 && more.length === 0) break;
    found = [...more, ...found];
    if (found.length === wanted) break;
  }
  return found;
}

async function lastMerged(
  dir: string,
  files: readonly LogFile[],
  wanted: number,
): Promise<LogLine[]> {
  return mergeTails(await byLastWrite(dir, files), wanted, (file) =>
    tailOf(dir, file, wanted, null),
  );
}

/** Newest first by when they were written last. */
async function byLastWrite(dir: string, files: readonly LogFile[]): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const file of files) {
    const writtenAt = await lastWrite(join(dir, file.name));
    if (writtenAt !== null) written.push({ file, writtenAt });
  }
  return written.sort((a, b) => b.writtenAt - a.writtenAt);
}

/** What follows a position in the files of its agent, given oldest first; at most 10,000 lines. */
async function sinceInOrder(
  dir: string,
  files: readonly LogFile[],
  { file: first, offset }: LogPosition,
  { instanceId }: LogQuery,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (const file of files.filter(({ date }) => date >= first.date)) {
    const start = file.name === first.name ? offset : 0;
    for await (const raw of readForward(join(dir, file.name), start)) {
      const line = toLogLine(raw, file, instanceId);
      if (line) lines.push(line);
      // A reader that wants more resumes after the last one.
      if (lines.length === maxLines) return lines;
    }
  }
  return lines;
}

/**
 * What the merge of all agents shows after a position: of its own agent everything after it, of the others what is
 * later by (time, file name), the order in which a merge shows lines. Null when that is too much to hold.
 */
async function sinceMerged(
  dir: string,
  files: readonly LogFile[],
  { file: own, offset }: LogPosition,
): Promise<LogLine[] | null> {
  const [last] = await tailOf(dir, own, 1, null, offset);
  const time = last?.entry.time ?? Date.parse(own.date);
  const isLater = (line: LogLine, file: LogFile): boolean =>
    line.entry.time > time || (line.entry.time === time && file.name > own.name);
  const done = new Set<string>();
  let found: LogLine[] = [];
  for (const file of files.toReversed()) {
    if (done.has(file.agent)) continue;
    const start = file.name === own.name ? offset : 0;
    const isWanted = file.agent === own.agent ? () => true : isLater;
    const part = await laterLines(dir, file, start, isWanted);
    found = [...part.lines, ...found];
    if (found.length > maxLines) return null;
    if (!part.whole || file.name === own.name) done.add(file.agent);
  }
  return mergeLines(found);
}

/** The lines at the end of a file that are wanted, down to `start`; `whole` when that is all of them. */
async function laterLines(
  dir: string,
  file: LogFile,
  start: number,
  isWanted: (line: LogLine, file: LogFile) => boolean,
): Promise<{ readonly lines: LogLine[]; readonly whole: boolean }> {
  const path = join(dir, file.name);
  const lines: LogLine[] = [];
  let whole = true;
  for await (const raw of readBackward(path, (await fileSize(path)) ?? 0)) {
    const line = raw.start < start ? null : toLogLine(raw, file, null);
    whole = line !== null && isWanted(line, file);
    if (!line || !whole || lines.length > maxLines) break;
    lines.push(line);
  }
  return { lines: lines.reverse(), whole };
}
