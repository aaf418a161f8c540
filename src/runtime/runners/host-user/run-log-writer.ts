import { writeSync } from "node:fs";
import { cappedMessage, maxOutputBytes } from "../output-cap.ts";
import { runLogLine } from "./run-log.ts";
import type { EndRecord, BeginRecord, RunLogKind } from "./run-log.ts";

/** The supervisor's end of a run's log file. */
export interface RunLogWriter {
  /** Lines of the run's output, in order. */
  output(stream: "out" | "err", lines: readonly string[]): void;
  supervisor(record: BeginRecord): void;
  /** The last line. */
  end(record: EndRecord): void;
}

/** Messages that get through once the log is full: they are small, and the run's end would be lost without them. */
const control = /^\{"type":"(status|cooldown|end)",/;
const controlBytes = 1024 * 1024;

/**
 * Writes to an open file until `maxOutputBytes`, and from then on only messages that are no log lines; the run's
 * account is always written. Synchronous, so that a line is in the file whatever happens to this process next.
 */
export function runLogWriter(fd: number): RunLogWriter {
  let bytes = 0;
  let account: string | null = null;
  const counted = (kind: RunLogKind, text: string): string => {
    const line = runLogLine(kind, text);
    bytes += Buffer.byteLength(line);
    return line;
  };
  const fitting = (stream: "out" | "err", text: string): string => {
    if (bytes < maxOutputBytes) {
      const line = counted(stream, text);
      return bytes < maxOutputBytes ? line : line + counted("out", cappedLine());
    }
    if (stream === "err" || !control.test(text)) return "";
    if (text.startsWith('{"type":"end"')) account = text;
    else if (bytes < maxOutputBytes + controlBytes) return counted("out", text);
    return "";
  };
  return {
    output: (stream, lines) => {
      const written = lines.filter((line) => line.trim() !== "");
      writeAll(fd, written.map((line) => fitting(stream, line)).join(""));
    },
    supervisor: (record) => writeAll(fd, runLogLine("keeper", JSON.stringify(record))),
    end: (record) => {
      const last = account === null ? "" : runLogLine("out", account);
      writeAll(fd, last + runLogLine("end", JSON.stringify(record)));
    },
  };
}

function cappedLine(): string {
  const message = { type: "log", level: 40, time: Date.now(), kind: "run", msg: cappedMessage };
  return JSON.stringify(message);
}

/** A full disk loses lines, not the run. */
function writeAll(fd: number, text: string): void {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch {
    // No place is left to report it.
  }
}
