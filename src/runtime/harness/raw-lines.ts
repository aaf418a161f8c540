/** The most lines of a command's output that are logged. */
const maxLoggedLines = 500;
const lastLines = 5;

export type OutputStream = "stdout" | "stderr";

/** Logs the first lines of an output and remembers the last ones; counts the rest. */
export function rawLines(log: (line: string, stream: OutputStream) => void) {
  let lines = 0;
  let last: readonly string[] = [];
  return {
    /** True if the line was logged. */
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
