import { cut } from "./message-writer.ts";

/** A command may print a lot; the log gets this much of it. */
const maxLoggedLines = 500;
const lastLines = 5;
const lastCharacters = 2000;

export type OutputStream = "stdout" | "stderr";

/** What became of the lines that a command printed. */
export interface RawLines {
  readonly add: (line: string, stream: OutputStream) => void;
  /** The last few, for the reason of a failure. */
  readonly last: () => readonly string[];
  /** How many were not logged. */
  readonly leftOut: () => number;
}

/** Hands the first lines of an output on to the log and remembers the last ones; the rest is only counted. */
export function rawLines(log: (line: string, stream: OutputStream) => void): RawLines {
  let lines = 0;
  let last: readonly string[] = [];
  return {
    add: (line, stream) => {
      lines += 1;
      last = [...last, cut(line, lastCharacters)].slice(-lastLines);
      if (lines <= maxLoggedLines) log(line, stream);
    },
    last: () => last,
    leftOut: () => Math.max(0, lines - maxLoggedLines),
  };
}
