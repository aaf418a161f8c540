import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isoTime } from "../../../streams/iso-times.ts";
import { agentNamePattern } from "../contracts/credential-reference.ts";
import { ifMissing } from "../errors.ts";

const fileNamePattern = new RegExp(`^(${agentNamePattern})-(\\d{4}-\\d{2}-\\d{2})\\.log$`);

/** A log file by its name: one per UTC day and agent. */
export interface LogFile {
  readonly name: string;
  /** Agent name, or `scheduler`. */
  readonly agent: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
}

/** Folder of a project's logs. */
export function logsDir(projectDir: string): string {
  return join(projectDir, ".al", "logs");
}

/** The UTC date of a time (epoch ms), `YYYY-MM-DD`. UTC, because a local day may have 23 or 25 hours. */
export function utcDate(time: number): string {
  return isoTime(time).slice(0, 10);
}

/** The file that a line of an agent goes to at a time (epoch ms). */
export function logFileOf(agent: string, time: number): LogFile {
  const date = utcDate(time);
  return { name: `${agent}-${date}.log`, agent, date };
}

/** The parts of a log file's name; null for other names. An agent's name may itself end in a date. */
export function parseLogFileName(name: string): LogFile | null {
  const parts = fileNamePattern.exec(name);
  const [, agent, date] = parts ?? [];
  return agent === undefined || date === undefined ? null : { name, agent, date };
}

/** The log files of a directory, of one agent or all (null), oldest day first; empty if the directory is missing. */
export async function listLogFiles(dir: string, agent: string | null): Promise<LogFile[]> {
  const all = await readdir(dir).catch(ifMissing<string[]>([]));
  // Ten thousand agents may have a hundred thousand names: only names with the right prefix are matched.
  const names = agent === null ? all : all.filter((name) => name.startsWith(`${agent}-`));
  return names
    .flatMap((name) => parseLogFileName(name) ?? [])
    .filter((file) => agent === null || file.agent === agent)
    .sort(byDateThenName);
}

const dayMs = 86_400_000;
/** For more days than this the directory is listed. */
const mostDays = 62;

/**
 * An agent's log files of the UTC days from one time to another (epoch ms), oldest first, whether they exist or not; null
 * for an invalid agent name, and for too many days.
 */
export function logFilesBetween(agent: string, from: number, to: number): LogFile[] | null {
  const days = Math.floor(to / dayMs) - Math.floor(from / dayMs) + 1;
  if (!(days <= mostDays) || parseLogFileName(logFileOf(agent, to).name) === null) return null;
  return Array.from({ length: Math.max(0, days) }, (_, n) => logFileOf(agent, from + n * dayMs));
}

function byDateThenName(a: LogFile, b: LogFile): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
