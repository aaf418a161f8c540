import type { Emit } from "../harness.ts";
import { cut } from "../message-writer.ts";
import { rawLines } from "../raw-lines.ts";
import type { OutputStream } from "../raw-lines.ts";
import type { CliReader } from "./llm-cli.ts";

export interface CliStream {
  readonly onLine: (line: string, stream: OutputStream, cut: boolean) => void;
  /** The last lines that were no messages. */
  readonly lastLines: () => readonly string[];
}

/** Sorts what a CLI prints: messages go to its reader, everything else to the log as it is. */
export function readStream(reader: CliReader, emit: Emit): CliStream {
  const log = (level: 30 | 40, msg: string, stream: OutputStream) =>
    emit({ type: "log", level, time: Date.now(), kind: "process", msg, fields: { stream } });
  const raw = rawLines((line, stream) => log(30, cut(line, 8192), stream));
  return {
    onLine: (line, stream, isCut) => {
      const message = stream === "stdout" && !isCut ? objectIn(line) : null;
      if (message !== null) reader.take(message);
      else if (isCut && line.startsWith("{")) log(40, "a message too long to be read", stream);
      else if (line.trim() !== "") raw.add(line, stream);
    },
    lastLines: raw.last,
  };
}

function objectIn(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
