import type { LogEntry, LogLevel } from "../../../../streams/vocabulary.ts";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { dollars } from "../../../features/spend/spend-text.ts";
import { localTime, plain } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem, hasCode } from "../../../foundation/errors.ts";
import type { Client } from "../operator/client.ts";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { logsDir } from "../../../foundation/logs/log-files.ts";
import { readLog } from "../../../foundation/logs/log-reader.ts";
import type { Context } from "../context.ts";
import { noProject, unknownAgent, mustHaveAccess } from "../operator/connect.ts";

const levelNames: Readonly<Record<number, string>> = {
  10: "TRACE",
  20: "DEBUG",
  30: "INFO",
  40: "WARN",
  50: "ERROR",
  60: "FATAL",
};

/** Lines of a tool's output that are shown. */
const shownLines = 10;

interface LogStyle {
  readonly colors: Colors;
  /** Names the agent in each line, if lines of several are mixed. */
  readonly showAgent: boolean;
  /** Epoch ms; a line on another day shows its date. */
  readonly now: number;
}

/** Whether an entry continues the one before: more output of the same call. */
export function isContinued(entry: LogEntry, before: LogEntry | null): boolean {
  if (before === null || kindOf(entry) !== "tool-output" || kindOf(before) !== "tool-output") {
    return false;
  }
  const isSame = entry.agent === before.agent && entry.instanceId === before.instanceId;
  return isSame && entry.call === before.call && outputOf(entry).length > 0;
}

/** Only the output, for an entry that continues the previous one. */
export function formatMore(entry: LogEntry, { colors }: LogStyle): string {
  return outputOf(entry)
    .map((line) => `    ${colors.dim(line)}`)
    .join("\n");
}

/** A log entry for people: `09:04:05 INFO  hello  text`, further lines of the text indented. */
export function formatLog(entry: LogEntry, { colors, showAgent, now }: LogStyle): string {
  const name = (levelNames[entry.level] ?? String(entry.level)).padEnd(5);
  const agent = showAgent ? [colors.cyan(plain(entry.agent))] : [];
  const shade = entry.isError === true ? String : colors.dim;
  const output = outputOf(entry).map((line) => `\n    ${shade(line)}`);
  const msg = plain(entry.msg).trimEnd().replaceAll("\n", "\n    ");
  const text =
    msg + callerOf(entry) + colors.dim(costOf(entry) + elapsedOf(entry)) + output.join("");
  return [
    colors.dim(localTime(entry.time, now)),
    levelColor(entry.level, colors)(name),
    ...agent,
    text,
  ].join(" ");
}

/** The run whose call the line is about. */
function callerOf({ trigger }: LogEntry): string {
  const { callerInstance }: { callerInstance?: unknown } = { ...(trigger as object | undefined) };
  return typeof callerInstance === "string" ? ` from ${plain(callerInstance)}` : "";
}

/** The cost of a turn, or of an ended run. */
function costOf({ costUsd }: LogEntry): string {
  return typeof costUsd === "number" && costUsd > 0 ? ` (${dollars(costUsd)})` : "";
}

/** How long a running call has run. */
function elapsedOf(entry: LogEntry): string {
  const { durationMs } = entry;
  const isLive = kindOf(entry) === "tool-output" && typeof durationMs === "number";
  return isLive ? ` (${durationText(durationMs)})` : "";
}

/** The output of a tool, shortened: the log file and `--json` have all of it. */
function outputOf(entry: LogEntry): readonly string[] {
  const { output, isError } = entry;
  const kind = kindOf(entry);
  if (kind !== "tool-result" && kind !== "tool-output") return [];
  if (typeof output !== "string") return [];
  const lines = plain(output).trimEnd().split("\n");
  if (lines.join("") === "") return [];
  return isError === true || kind === "tool-output" ? lastOf(lines) : firstOf(lines);
}

/** The reason of a failure and its exit code come last; empty lines would take their room. */
function lastOf(lines: readonly string[]): string[] {
  const full = lines.filter((line) => line.trim() !== "");
  const more = full.length - shownLines;
  return more > 0 ? [`… ${more} lines before`, ...full.slice(-shownLines)] : full;
}

function firstOf(lines: readonly string[]): readonly string[] {
  const more = lines.length - shownLines;
  return more > 0 ? [...lines.slice(0, shownLines), `… ${more} more lines`] : lines;
}

function levelColor(level: LogLevel, colors: Colors): (text: string) => string {
  if (level >= 50) return colors.red;
  if (level >= 40) return colors.yellow;
  return level >= 30 ? colors.green : colors.dim;
}

/** How long between two attempts, in ms, so that a scheduler that hangs up at once is not called in a loop. */
const pause = 200;

export interface LogStream {
  /** An agent, or null for all. */
  readonly agent: string | null;
  readonly instanceId: string | null;
  /** How many lines to begin with. */
  readonly lines: number;
}

/** The position of a reader; kept outside, so that another connection resumes there. */
export interface Position {
  id: string | undefined;
}

/**
 * Passes every line to `onEntry` until that returns true, the signal aborts, or the connection ends. Resolves with true
 * if `onEntry` ended it. Throws Problem if the scheduler refuses or isn't there.
 */
export async function streamLog(
  client: Client,
  stream: LogStream,
  position: Position,
  { signal, onEntry }: { signal: AbortSignal; onEntry: (entry: LogEntry) => Promise<boolean> },
): Promise<boolean> {
  try {
    for await (const { event, id, data } of client.events(pathOf(stream), signal, position.id)) {
      if (event !== "log") continue;
      const enough = await onEntry(JSON.parse(data) as LogEntry);
      position.id = id;
      if (enough) return true;
    }
  } catch (error) {
    if (!signal.aborted && !isCut(error)) throw error;
  }
  if (!signal.aborted) await sleep(pause);
  return false;
}

/** The connection broke: whether the request succeeded is unknown. */
function isCut(error: unknown): boolean {
  return hasCode(error, "disconnected", "ECONNRESET");
}

function pathOf({ agent, instanceId, lines }: LogStream): string {
  const query = new URLSearchParams({ lines: String(lines) });
  if (instanceId !== null) query.set("instance", instanceId);
  const path =
    agent === null ? "/api/logs/stream" : `/dashboard/api/logs/${encodeURIComponent(agent)}/stream`;
  return `${path}?${query.toString()}`;
}

/** Prints the log so far from the files, which exist without a scheduler too. */
export async function showLogs(context: Context, stream: LogStream, since: number): Promise<void> {
  const { out, projectDir } = context;
  mustHaveAccess(projectDir);
  const lines = await readLog(logsDir(projectDir), { ...stream, after: null });
  if (lines.length === 0) await refuseUnknown(projectDir, stream);
  const entries = lines.map(({ entry }) => entry).filter(({ time }) => time >= since);
  if (out.json) return out.document({ entries });
  if (entries.length === 0) out.note("no log lines yet");
  const style = { colors: out.colors, showAgent: stream.agent === null, now: Date.now() };
  for (const entry of withoutRepeats(entries)) out.data(formatLog(entry, style));
}

/** Without the output of calls that have a result: the result repeats it. */
function withoutRepeats(entries: readonly LogEntry[]): readonly LogEntry[] {
  const idOf = ({ instanceId, call }: LogEntry) => JSON.stringify([instanceId, call]);
  const ends = entries.filter((entry) => ["tool-result", "hook"].includes(kindOf(entry) ?? ""));
  const ended = new Set(ends.map(idOf));
  return entries.filter((entry) => kindOf(entry) !== "tool-output" || !ended.has(idOf(entry)));
}

/** An agent without a line may be new. Throws Problem for one without a folder, and for a run without a line. */
export async function refuseUnknown(
  projectDir: string,
  { agent, instanceId }: Pick<LogStream, "agent" | "instanceId">,
): Promise<void> {
  const missing = noProject(projectDir);
  if (missing !== null) throw missing;
  const known = await readdir(join(projectDir, "agents")).catch((): string[] => []);
  if (agent !== null && agent !== "scheduler" && !known.includes(agent)) {
    throw unknownAgent(agent, known);
  }
  if (instanceId === null) return;
  throw new Problem(
    "unknown_run",
    `there are no log lines of a run ${instanceId}`,
    "List the runs and their IDs with `al history`.",
  );
}
