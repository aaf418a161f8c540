import { join } from "node:path";
import type { LogLine, LogQuery } from "../contracts/log-source.ts";
import { maxLines, tailOf } from "./log-lines.ts";
import { listLogFiles } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { findPosition, lastWrite } from "./log-position.ts";
import { sinceInOrder, sinceMerged } from "./log-since.ts";
import { mergeTails } from "./merge-lines.ts";
import type { WrittenFile } from "./merge-lines.ts";

/**
 * The lines so far, oldest first: the last `lines` of them, or everything after the position `after` when that is
 * known. Over all agents they are merged by time.
 */
export async function readLog(dir: string, query: LogQuery): Promise<LogLine[]> {
  const agent = query.agent ?? agentOf(query.instanceId);
  const files = await listLogFiles(dir, agent);
  const position = await findPosition(dir, query.after);
  if (position === null || (agent !== null && position.file.agent !== agent)) {
    return lastLines(dir, files, query);
  }
  if (agent !== null) return sinceInOrder(dir, files, position, query);
  return (await sinceMerged(dir, files, position)) ?? lastLines(dir, files, query);
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
