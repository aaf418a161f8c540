import { runMessageSchema } from "../../../foundation/contracts/run-messages.ts";

/** A line as it is sent. */
export interface NumberedLine {
  readonly seq: number;
  /** NDJSON, with its newline. */
  readonly text: string;
  /** The size of the text. */
  readonly bytes: number;
}

/** Messages of which the last one counts, and the lines of the log that show whether a text was the model's last word. */
const lastCounts = new Set(["status", "ready", "rerun", "end", "tool", "said"]);

/** The lines of a run whose effect is in the scheduler's memory alone. */
export interface StateLines {
  /** A line of standard output that the scheduler has, as it was written. */
  take(line: NumberedLine, written: string): void;
  /** What another scheduler needs, in order. */
  all(): readonly NumberedLine[];
}

/** Keeps the latest line of each kind, and the returned value with all its pieces. */
export function createStateLines(): StateLines {
  const latest = new Map<string, NumberedLine>();
  let value: NumberedLine[] = [];
  let pieces: NumberedLine[] = [];
  return {
    take: (line, written) => {
      const message = messageIn(written);
      if (message === null) return;
      const kind = message.type === "log" ? message.kind : message.type;
      // Whether the model said the last word depends on the later one of both.
      if (lastCounts.has(kind)) latest.set(kind === "said" ? "tool" : kind, line);
      if (message.type !== "return") return;
      pieces.push(line);
      if (message.more) return;
      value = pieces;
      pieces = [];
    },
    all: () => [...latest.values(), ...value, ...pieces].sort((a, b) => a.seq - b.seq),
  };
}

function messageIn(written: string) {
  if (!written.startsWith("{")) return null;
  try {
    return runMessageSchema.safeParse(JSON.parse(written)).data ?? null;
  } catch {
    return null;
  }
}
