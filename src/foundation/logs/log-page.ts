import { join } from "node:path";
import type { LogLine, LogPage, LogPageQuery } from "./log-query.ts";
import { listLogFiles, type LogFile } from "./log-files.ts";
import { fileSize, findPosition, positionId, type LogPosition } from "./log-position.ts";
import { createLogScan, type LogScan } from "./log-scan.ts";
import { readBackward, readForward, type RawLine } from "./read-lines.ts";

/** Bytes of one scan: some tenths of a second, between which other work runs. */
const defaultScanBytes = 32 * 1024 * 1024;

/**
 * A part of one agent's log: the last lines before a position, or the first ones after it, that pass a filter. A scan
 * that finds too few stops after `scanBytes`, and the page has where to continue.
 */
export async function readLogPage(
  dir: string,
  query: LogPageQuery,
  scanBytes = defaultScanBytes,
): Promise<LogPage> {
  const { agent, from } = query;
  const files = await listLogFiles(dir, agent);
  const scan = createLogScan(query, scanBytes);
  const found = await findPosition(dir, "after" in from ? from.after : from.before);
  const start = found?.file.agent === agent ? found : null;
  if ("after" in from) return forward(dir, files, start, scan);
  // Retention deleted the file of a position: nothing is left before it.
  if (from.before !== null && start === null) return page(scan, [], null, null, false);
  return backward(dir, files, start, scan);
}

/** The last lines before a position, or before the end for null, in the files of one agent, given oldest first. */
export async function backward(
  dir: string,
  files: readonly LogFile[],
  start: LogPosition | null,
  scan: LogScan,
): Promise<LogPage> {
  const lines: LogLine[] = [];
  let newer = start && positionOf(start);
  for await (const { raw, file } of linesBefore(dir, files, start, scan.mayMatch)) {
    const place = positionId(file.name, raw.end);
    newer ??= place;
    if (scan.isOver(lines.length)) return page(scan, lines.reverse(), place, newer, !start);
    if (scan.isBeforeRun(file)) break;
    const line = scan.look(raw, file);
    if (line !== null) lines.push(line);
  }
  return page(scan, lines.reverse(), null, newer, start === null);
}

/** The first lines after a position; none without one. */
export async function forward(
  dir: string,
  files: readonly LogFile[],
  start: LogPosition | null,
  scan: LogScan,
): Promise<LogPage> {
  if (start === null) return page(scan, [], null, null, true);
  const lines: LogLine[] = [];
  const older = positionOf(start);
  let newer = older;
  for await (const { raw, file } of linesAfter(dir, files, start)) {
    if (scan.isOver(lines.length)) return page(scan, lines, older, newer, false);
    const line = scan.look(raw, file);
    if (line !== null) lines.push(line);
    newer = positionId(file.name, raw.end);
  }
  return page(scan, lines, older, newer, true);
}

interface FileLine {
  readonly raw: RawLine;
  readonly file: LogFile;
}

async function* linesBefore(
  dir: string,
  files: readonly LogFile[],
  start: LogPosition | null,
  mayMatch: LogScan["mayMatch"],
): AsyncGenerator<FileLine> {
  for (const file of files.toReversed()) {
    if (start !== null && file.date > start.file.date) continue;
    const path = join(dir, file.name);
    const end = file.name === start?.file.name ? start.offset : await fileSize(path);
    for await (const raw of readBackward(path, end ?? 0, mayMatch)) yield { raw, file };
  }
}

async function* linesAfter(
  dir: string,
  files: readonly LogFile[],
  start: LogPosition,
): AsyncGenerator<FileLine> {
  for (const file of files.filter(({ date }) => date >= start.file.date)) {
    const offset = file.name === start.file.name ? start.offset : 0;
    for await (const raw of readForward(join(dir, file.name), offset)) yield { raw, file };
  }
}

function positionOf({ file, offset }: LogPosition): string {
  return positionId(file.name, offset);
}

function page(
  { reachedAt }: LogScan,
  lines: readonly LogLine[],
  older: string | null,
  newer: string | null,
  atEnd: boolean,
): LogPage {
  return { lines, older, newer, atEnd, reachedAt: reachedAt() };
}
