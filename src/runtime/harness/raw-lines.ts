/** The most lines of a command's output that are logged. */
const maxLoggedLines = 500;
export const lastLines = 5;
/** How many lines are kept: a secret over several lines is only recognized in one piece. */
const recentLines = 200;

export type OutputStream = "stdout" | "stderr";

/** Logs the first lines of an output and remembers the last ones; counts the rest. */
export function rawLines(log: (line: string, stream: OutputStream) => void) {
  let lines = 0;
  const recent: string[] = [];
  return {
    /** True if the line was logged. */
    add: (line: string, stream: OutputStream): boolean => {
      lines += 1;
      recent.push(line);
      if (recent.length > recentLines) recent.shift();
      if (lines <= maxLoggedLines) log(line, stream);
      return lines <= maxLoggedLines;
    },
    /** The last few, for the reason of a failure. */
    last: (): readonly string[] => recent.slice(-lastLines),
    recent: (): readonly string[] => recent,
    /** How many were not logged. */
    leftOut: () => Math.max(0, lines - maxLoggedLines),
  };
}
