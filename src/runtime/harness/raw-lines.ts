/** A command may print a lot; the log gets this much of it. */
const maxLoggedLines = 500;
const lastLines = 5;

export type OutputStream = "stdout" | "stderr";

/** Passes the first lines of an output to the log and remembers the last ones; the rest is only counted. */
export function rawLines(log: (line: string, stream: OutputStream) => void) {
  let lines = 0;
  let last: readonly string[] = [];
  return {
    /** True when the line was logged. */
    add: (line: string, stream: OutputStream): boolean => {
      lines += 1;
      last = [...last, line].slice(-lastLines);
      if (lines <= maxLoggedLines) log(line, stream);
      return lines <= maxLoggedLines;
    },
    /** The last few, for the reason of a failure. */
    last: () => last,
    /** How many were not logged. */
    leftOut: () => Math.max(0, lines - maxLoggedLines),
  };
}
