import { appendFileSync, mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { formatLine } from "../../../src/foundation/logs/line-queue.ts";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { MadeRun } from "./made-runs.ts";

/** Writes the runs' lines to the project's log files, each last written at the time of its last line, as by their runs. */
export function writeLogs(projectDir: string, runs: readonly MadeRun[]): void {
  mkdirSync(logsDir(projectDir), { recursive: true });
  const files = Map.groupBy(
    runs.flatMap(linesOf),
    ({ agent, time }) => logFileOf(agent, time).name,
  );
  for (const [name, entries] of files) {
    const path = join(logsDir(projectDir), name);
    appendFileSync(path, entries.map(formatLine).join(""), { mode: 0o600 });
    const seconds = Math.max(...entries.map(({ time }) => time)) / 1_000;
    utimesSync(path, seconds, seconds);
  }
}

function linesOf({ item, instanceId, startedAt, endedAt, said, end }: MadeRun): LogEntry[] {
  const { agent, trigger } = item;
  const step = (endedAt - startedAt) / 8;
  const line = (n: number, msg: string, fields: object): LogEntry => ({
    level: 30,
    time: Math.round(startedAt + n * step),
    agent,
    instanceId,
    msg,
    ...fields,
  });
  const command = "psql --command 'select count(*) from entries'";
  const isFailed = end.outcome === "failed";
  const output = isFailed ? `${end.reason ?? ""}\n    at TCPConnectWrap.afterConnect` : "1204\n";
  const seconds = ((endedAt - startedAt) / 1_000).toFixed(0);
  return [
    line(0, `run started by ${trigger.kind}`, { kind: "run", trigger }),
    line(1, 'session starts with model "scripted" (scripted)', { kind: "run" }),
    line(2, "I look at what changed since the last run.", { kind: "said" }),
    line(3, `bash: ${command}`, { kind: "tool", tool: "bash", input: { command } }),
    line(4, isFailed ? "bash failed" : "bash done", {
      kind: "tool-result",
      tool: "bash",
      output,
      isError: isFailed,
      durationMs: Math.round(step),
    }),
    line(5, said, { kind: "said" }),
    line(6, `${end.usage?.tokens ?? 0} tokens`, { kind: "usage", tokens: end.usage?.tokens }),
    line(8, `run ${end.outcome} after ${seconds} s`, {
      level: isFailed ? 50 : 30,
      kind: "run",
      outcome: end.outcome,
      reason: end.reason,
      durationMs: endedAt - startedAt,
    }),
  ];
}
