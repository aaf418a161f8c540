import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { LogLine, LogQuery } from "./log-query.ts";
import { maxLines, tailOf, toLogLine } from "./log-lines.ts";
import { listLogFiles, logFilesBetween, logsDir, parseLogFileName, utcDate } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { backward, forward } from "./log-page.ts";
import { fileSize, findPosition, type LogPosition } from "./log-position.ts";
import { createLogScan, everything } from "./log-scan.ts";
import { readBackward } from "./read-lines.ts";

/**
 * The lines so far, oldest first: the last `lines` of them, or everything after the position `after` when that is
 * known. Over all agents they are merged by time.
 */
export async function readLog(dir: string, query: LogQuery): Promise<readonly LogLine[]> {
  const agent = query.agent ?? agentOf(query.instanceId);
  const files = await filesOf(dir, agent, query.times);
  const position = await findPosition(dir, query.after);
  if (position === null || (agent !== null && position.file.agent !== agent)) {
    return lastLines(dir, files, query);
  }
  if (agent !== null) {
    const { instanceId } = query;
    const scan = createLogScan({ instanceId, filter: everything, lines: maxLines });
    return (await forward(dir, files, position, scan)).lines;
  }
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

async function lastLines(
  dir: string,
  files: readonly LogFile[],
  { agent, instanceId, lines }: LogQuery,
): Promise<readonly LogLine[]> {
  const wanted = Math.min(Math.max(lines, 0), maxLines);
  if (wanted === 0) return [];
  if (agent === null && instanceId === null) {
    return lastMerged(dir, files, wanted, (error) => Promise.reject(error));
  }
  const scan = createLogScan({ instanceId, filter: everything, lines: wanted });
  return (await backward(dir, files, null, scan)).lines;
}

/** The last entries of all agents and the scheduler, oldest first. A start skips unreadable files. */
export async function latestEntries(
  projectDir: string,
  count: number,
): Promise<readonly LogEntry[]> {
  const dir = logsDir(projectDir);
  const files = await listLogFiles(dir, null).catch(() => []);
  return (await lastMerged(dir, files, count, () => [])).map(({ entry }) => entry);
}

/** The last lines of all agents, merged by time; `unread` returns those of a file that can't be read. */
async function lastMerged(
  dir: string,
  files: readonly LogFile[],
  wanted: number,
  unread: (error: Error) => LogLine[] | Promise<never>,
): Promise<LogLine[]> {
  let found: LogLine[] = [];
  for (const { file, writtenAt } of writtenLast(dir, files, wanted)) {
    const oldest = found.length < wanted ? undefined : found[0];
    // No line in this file, or in those written before it, is newer than the lines so far.
    if (oldest && oldest.entry.time > writtenAt) break;
    const tail = await tailOf(dir, file, wanted).catch(unread);
    found = mergeLines([...tail, ...found]).slice(-wanted);
  }
  return found;
}

interface WrittenFile {
  readonly file: LogFile;
  /** Epoch ms. */
  readonly writtenAt: number;
}

/** The `count` files written last, newest first: each holds a line, so no other file has one of the last `count`. */
function writtenLast(dir: string, files: readonly LogFile[], count: number): WrittenFile[] {
  const found: WrittenFile[] = [];
  const days = Map.groupBy(files, ({ date }) => date);
  // A file is written on its own day only: for a thousand agents, the files of the last day or two are enough.
  for (const day of [...days.keys()].reverse()) {
    if (found.length >= count) break;
    const written = (days.get(day) ?? []).flatMap((file) => lastWriteOf(dir, file));
    found.push(...written.sort((a, b) => b.writtenAt - a.writtenAt));
  }
  return found.slice(0, count);
}

/** Empty if the file is empty or not a regular file: reading a pipe of that name would block. */
function lastWriteOf(dir: string, file: LogFile): WrittenFile[] {
  try {
    const found = statSync(join(dir, file.name));
    return found.isFile() && found.size > 0 ? [{ file, writtenAt: found.mtimeMs }] : [];
  } catch {
    return [];
  }
}

/** Merges lines by time, and those of one agent stay in their order even where their times do not. */
function mergeLines(lines: readonly LogLine[]): LogLine[] {
  const latest = new Map<string, number>();
  const keyed = lines.map((line) => {
    const file = line.id.slice(0, line.id.lastIndexOf(":"));
    const agent = parseLogFileName(file)?.agent ?? file;
    const key = Math.max(latest.get(agent) ?? -Infinity, line.entry.time);
    latest.set(agent, key);
    return { line, file, key };
  });
  keyed.sort((a, b) => a.key - b.key || Number(a.file > b.file) - Number(a.file < b.file));
  return keyed.map(({ line }) => line);
}

/**
 * The merge of all agents after a position: every later line of its own agent, and lines of the others that are later by
 * (time, file name), the order of a merge. Null if that is too much to hold.
 */
async function sinceMerged(
  dir: string,
  files: readonly LogFile[],
  { file: own, offset }: LogPosition,
): Promise<LogLine[] | null> {
  const [last] = await tailOf(dir, own, 1, offset);
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

/** The requested lines at the end of a file, down to `start`; `whole` if that is all of them. */
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
