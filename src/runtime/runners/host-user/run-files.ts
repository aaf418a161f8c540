import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { lineSplitter } from "../../wire/lines.ts";
import { failureOf } from "../../../foundation/errors.ts";
import { parseRunLogLine, recordIn, runLogLine } from "./run-log.ts";
import type { EndRecord, RunRecord } from "./run-log.ts";

/** Path of a run's log, which stays after the run. */
export function logPathOf(baseDir: string, instanceId: string): string {
  return join(baseDir, `${instanceId}.log`);
}

/** Path of a run's working directory, which is removed with the run. */
export function workDirOf(baseDir: string, instanceId: string): string {
  return join(baseDir, instanceId);
}

/** Creates a run's log for the scheduler's user only and opens it. Throws a Problem if it exists. */
export function createLog(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw failureOf("run_log", "the run's log cannot be created", error);
  }
}

/** Writes the record by which a later scheduler finds the run. */
export function writeRunRecord(logFd: number, record: RunRecord): void {
  writeFileSync(logFd, runLogLine("run", JSON.stringify(record)));
}

/** Closes a log that may be closed already. */
export function closeLog(logFd: number): void {
  try {
    closeSync(logFd);
  } catch {
    // EBADF: it was already closed.
  }
}

/** Bytes to read from a log's start: enough for most configs, then for long instructions after lines of sudo. */
const headBytes = [64 * 1024, 4 * 1024 * 1024];
const tailBytes = 16 * 1024;

/** The record of a run in the beginning of its log; null if it is missing, or the log belongs to another user. */
export async function readRunRecord(path: string): Promise<RunRecord | null> {
  for (const most of headBytes) {
    const lines = await linesOf(path, (size) => ({ from: 0, bytes: Math.min(size, most) }));
    const text = lines.map(parseRunLogLine).find((line) => line?.kind === "run")?.text;
    if (text !== undefined) return recordIn(text) as RunRecord | null;
  }
  return null;
}

/** The record of a run's end in its log; null if it has not ended. */
export async function readEndRecord(path: string): Promise<EndRecord | null> {
  const lines = await linesOf(path, (size) => {
    const bytes = Math.min(size, tailBytes);
    return { from: size - bytes, bytes };
  });
  const last = parseRunLogLine(lines.at(-1) ?? "");
  return last?.kind === "end" ? (recordIn(last.text) as EndRecord | null) : null;
}

interface Part {
  readonly from: number;
  readonly bytes: number;
}

async function linesOf(path: string, partOf: (size: number) => Part): Promise<readonly string[]> {
  const stat = await lstat(path).catch(() => null);
  if (!stat?.isFile() || stat.uid !== process.getuid?.()) return [];
  const { from, bytes } = partOf(stat.size);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, from);
    const lines: string[] = [];
    lineSplitter(bytes, (line) => lines.push(line)).push(buffer.subarray(0, bytesRead));
    return lines;
  } finally {
    await file.close();
  }
}
