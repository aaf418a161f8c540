import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { kindOf } from "../../../foundation/contracts/log-kinds.ts";
import { UserError } from "../../../foundation/errors.ts";
import { logsDir } from "../../../foundation/logs/log-files.ts";
import { readLog } from "../../../foundation/logs/log-reader.ts";
import type { Client } from "../operator/client.ts";
import {
  connect,
  isNotRunning,
  isStarting,
  noProject,
  unknownAgent,
  withAgent,
} from "../operator/connect.ts";
import type { Context } from "../context.ts";
import { formatLog, formatMore, isContinued } from "./log-line.ts";
import { streamLog } from "./log-stream.ts";
import type { LogStream, Position } from "./log-stream.ts";
import { mustHaveAccess } from "../project-access.ts";

export interface LogsOptions {
  readonly follow?: true;
  readonly lines?: number;
  readonly instance?: string;
  /** Epoch ms. */
  readonly since?: number;
}

const usualLines = 100;
/** With `--since` the time limits, and this many lines do. */
const mostLines = 10_000;

function linesOf({ lines, since }: LogsOptions): number {
  return lines ?? (since === undefined ? usualLines : mostLines);
}

/** Prints the log so far, from the files: it is there without a scheduler too. */
export async function showLogs(
  context: Context,
  agent: string | null,
  options: LogsOptions,
): Promise<void> {
  const { out, projectDir } = context;
  const query = {
    agent,
    instanceId: options.instance ?? null,
    lines: linesOf(options),
    after: null,
  };
  mustHaveAccess(projectDir);
  const lines = await readLog(logsDir(projectDir), query);
  if (lines.length === 0) await refuseUnknown(projectDir, query);
  const entries = lines
    .map(({ entry }) => entry)
    .filter(({ time }) => time >= (options.since ?? 0));
  if (out.json) return out.document({ entries });
  if (entries.length === 0) out.note("no log lines yet");
  const style = { colors: out.colors, showAgent: agent === null, now: Date.now() };
  for (const entry of withoutRepeats(entries)) out.data(formatLog(entry, style));
}

/** What a call printed while it ran is in its result, too. */
function withoutRepeats(entries: readonly LogEntry[]): readonly LogEntry[] {
  const idOf = ({ instanceId, call }: LogEntry) => JSON.stringify([instanceId, call]);
  const ends = entries.filter((entry) => ["tool-result", "hook"].includes(kindOf(entry) ?? ""));
  const ended = new Set(ends.map(idOf));
  return entries.filter((entry) => kindOf(entry) !== "tool-output" || !ended.has(idOf(entry)));
}

/** An agent without a line may be new; one without a folder is a slip of the pen, and so is a run without a line. */
export async function refuseUnknown(
  projectDir: string,
  { agent, instanceId }: { readonly agent: string | null; readonly instanceId: string | null },
): Promise<void> {
  const missing = noProject(projectDir);
  if (missing !== null) throw missing;
  const known = await readdir(join(projectDir, "agents")).catch((): string[] => []);
  if (agent !== null && agent !== "scheduler" && !known.includes(agent)) {
    throw unknownAgent(agent, known);
  }
  if (instanceId === null) return;
  throw new UserError("unknown_run", `there are no log lines of a run ${instanceId}`, {
    hint: "al history shows the runs and their ids",
  });
}

/**
 * Prints the log and follows it with new lines (with `--json` one document a line) until it is interrupted. A scheduler
 * that goes away is waited for, and its log resumed where it was left.
 */
export async function followLogs(
  context: Context,
  agent: string | null,
  options: LogsOptions,
): Promise<void> {
  const stream = { agent, instanceId: options.instance ?? null, lines: linesOf(options) };
  const position: Position = { id: undefined };
  let before: LogEntry | null = null;
  const reading = {
    signal: new AbortController().signal,
    onEntry: async (entry: LogEntry) => {
      if (entry.time < (options.since ?? 0)) return false;
      await print(context, stream, entry, before);
      before = entry;
      return false;
    },
  };
  let client = await connect(context);
  for (;;) {
    const read = streamLog(client, stream, position, reading);
    await (agent === null ? read : withAgent(client, agent, read));
    client = await connectAgain(context);
  }
}

async function print(
  { out }: Context,
  stream: LogStream,
  entry: LogEntry,
  before: LogEntry | null,
): Promise<void> {
  const style = { colors: out.colors, showAgent: stream.agent === null, now: Date.now() };
  if (out.json) out.document(entry);
  else out.data(isContinued(entry, before) ? formatMore(entry, style) : formatLog(entry, style));
  await out.drained();
}

/** Waits until a scheduler answers again, with a note when that takes time. */
async function connectAgain(context: Context): Promise<Client> {
  for (let isNoted = false; ; isNoted = true) {
    const client = await connectIfRunning(context);
    if (client !== null) return client;
    if (!isNoted) context.out.note("the scheduler is gone; waiting for it (Ctrl-C ends)");
    await sleep(1000);
  }
}

async function connectIfRunning(context: Context): Promise<Client | null> {
  try {
    const client = await connect(context);
    await client.get("/control/status");
    return client;
  } catch (error) {
    if (isNotRunning(error) || isStarting(error)) return null;
    throw error;
  }
}
