import { writeSync } from "node:fs";
import { cappedMessage, maxOutputBytes } from "../../wire/lines.ts";
import { runLogLine, type EndRecord, type BeginRecord, type RunLogKind } from "./run-log.ts";

/** Messages that are written even to a full log: they are small, and the run's end would be lost without them. */
const control = /^\{"type":"(status|cooldown|end)",/;
const controlBytes = 1024 * 1024;

/**
 * Writes to an open file until `maxOutputBytes`, and from then on messages, but no log lines; the run's
 * account is always written. Synchronous, so that a line is in the file whatever happens to this process next.
 */
export function runLogWriter(fd: number) {
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
    /** Lines of the run's output, in order. */
    output: (stream: "out" | "err", lines: readonly string[]) => {
      const written = lines.filter((line) => line.trim() !== "");
      writeAll(fd, written.map((line) => fitting(stream, line)).join(""));
    },
    supervisor: (record: BeginRecord) => writeAll(fd, runLogLine("keeper", JSON.stringify(record))),
    /** The last line. */
    end: (record: EndRecord) => {
      const last = account === null ? "" : runLogLine("out", account);
      writeAll(fd, last + runLogLine("end", JSON.stringify(record)));
    },
  };
}

/** The supervisor's end of a run's log file. */
export type RunLogWriter = ReturnType<typeof runLogWriter>;

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
    // The error can't be reported anywhere.
  }
}
