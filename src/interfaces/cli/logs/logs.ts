import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import type { GrepOptions } from "./grep-logs.ts";
import {
  showLogs,
  refuseUnknown,
  formatLog,
  formatMore,
  isContinued,
  streamLog,
} from "./log-line.ts";
import type { LogStream, Position } from "./log-line.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { logFileOf, logsDir } from "../../../foundation/logs/log-files.ts";
import { toLogLine } from "../../../foundation/logs/log-lines.ts";
import { fileSize, findPosition } from "../../../foundation/logs/log-position.ts";
import { agentOf, readLog } from "../../../foundation/logs/log-reader.ts";
import type { Client } from "../operator/client.ts";
import { connect, isNotRunning, withAgent } from "../operator/connect.ts";

interface LogsOptions extends Omit<GrepOptions, "grep"> {
  readonly agent?: string;
  readonly follow?: true;
  readonly grep?: string;
}

const usualLines = 100;
/** With `--since` the time is the limit, and this number of lines. */
const mostLines = 10_000;

/** Prints or follows the log of an agent or of all, or searches it. */
export async function logs(
  context: Context,
  argument: string | undefined,
  options: LogsOptions,
): Promise<void> {
  const agent = argument ?? options.agent ?? null;
  const { grep, follow, lines, instance = null, since, outcome, kind, oldest } = options;
  if (grep !== undefined) {
    const { grepLogs } = await import("./grep-logs.ts");
    return grepLogs(context, agent, { ...options, grep });
  }
  if ([outcome, kind, oldest].some((one) => one !== undefined)) {
    throw usageError("--outcome, --kind and --oldest need --grep", "Add `--grep <words>`.");
  }
  const stream = {
    agent,
    instanceId: instance,
    lines: lines ?? (since === undefined ? usualLines : mostLines),
  };
  await (follow ? followLogs : showLogs)(context, stream, since ?? 0);
}

type Print = (entry: LogEntry) => Promise<void>;

/**
 * Prints the log and follows it (with `--json` one document a line) until it is interrupted: the log of the scheduler,
 * with reconnects, or without a scheduler the agent's file.
 */
async function followLogs(context: Context, stream: LogStream, since: number): Promise<void> {
  const print = printer(context, stream, since);
  const agent = stream.agent ?? agentOf(stream.instanceId);
  const connected = await connect(context).catch((error: unknown) => {
    if (agent === null || !isNotRunning(error)) throw error;
    return null;
  });
  if (connected !== null) return followStream(context, connected, stream, print);
  if (agent !== null) await followFile(context, { ...stream, agent }, print);
}

/** Prints entries one by one; more output of a call continues below the first. */
function printer({ out }: Context, { agent }: LogStream, since: number): Print {
  let before: LogEntry | null = null;
  return async (entry) => {
    if (entry.time < since) return;
    const style = { colors: out.colors, showAgent: agent === null, now: Date.now() };
    if (out.json) out.document(entry);
    else out.data(isContinued(entry, before) ? formatMore(entry, style) : formatLog(entry, style));
    before = entry;
    await out.drained();
  };
}

/** Follows the scheduler's log, and resumes at the same line after the scheduler went away. */
async function followStream(
  context: Context,
  first: Client,
  stream: LogStream,
  print: Print,
): Promise<void> {
  const position: Position = { id: undefined };
  const { signal } = new AbortController();
  const onEntry = (entry: LogEntry) => print(entry).then(() => false);
  for (let client = first; ; client = await connectAgain(context)) {
    const read = streamLog(client, stream, position, { signal, onEntry });
    await (stream.agent === null ? read : withAgent(client, stream.agent, read));
  }
}

/** Waits until a scheduler answers again, with a note if that takes time. */
async function connectAgain(context: Context): Promise<Client> {
  for (let isNoted = false; ; isNoted = true) {
    try {
      const client = await connect(context);
      await client.get("/control/status");
      return client;
    } catch (error) {
      if (!hasCode(error, "not_running", "starting")) throw error;
    }
    if (!isNoted) context.out.note("the scheduler is not running; waiting for it (Ctrl-C stops)");
    await sleep(1000);
  }
}

/** Follows the agent's own file, and after midnight (UTC) the one of the next day. */
async function followFile(
  { projectDir, out }: Context,
  query: LogStream & { readonly agent: string },
  print: Print,
): Promise<void> {
  const { agent, instanceId } = query;
  const dir = logsDir(projectDir);
  let file = logFileOf(agent, Date.now());
  const size = (await fileSize(join(dir, file.name))) ?? 0;
  const lines = await readLog(dir, { agent, instanceId, lines: query.lines, after: null });
  if (lines.length === 0) await refuseUnknown(projectDir, query);
  for (const { entry } of lines) await print(entry);
  out.note(`no scheduler is running; following the file of ${agent} (Ctrl-C stops)`);
  const last = await findPosition(dir, lines.at(-1)?.id ?? null);
  let start = last?.file.name === file.name ? last.offset : size;
  const { tailLines } = await import("./tail-lines.ts");
  for (;;) {
    const next = () => logFileOf(agent, Date.now());
    const isOver = () => next().name !== file.name && existsSync(join(dir, next().name));
    for await (const text of tailLines(join(dir, file.name), start, isOver)) {
      const line = toLogLine({ text, start: 0, end: 0 }, file, instanceId);
      if (line !== null) await print(line.entry);
    }
    [file, start] = [next(), 0];
  }
}
