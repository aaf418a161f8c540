import { maxLinesBytes, type RemoteEnd } from "../../wire/remote-protocol.ts";
import { runMessageSchema } from "../../wire/run-messages.ts";

/** Bytes of one request. A line has at most 32 KiB, which escapes can make six times as long. */
const batchBytes = maxLinesBytes / 2;

interface OutgoingLine extends NumberedLine {
  /** The line as the run wrote it on standard output; null for any other line. */
  readonly written: string | null;
}

/** A run's lines that the scheduler does not have yet, numbered from 1. */
export class OutgoingLines {
  #lines: OutgoingLine[] = [];
  #seq = 0;
  #bytes = 0;
  #hasEnded = false;
  #isAsked = false;
  readonly #listeners = new Set<() => void>();
  readonly #state = createStateLines();

  /** `time` is epoch ms. */
  add(stream: "stdout" | "stderr", line: string, time: number): void {
    if (this.#hasEnded) return;
    this.#push({ time, stream, line }, stream === "stdout" ? line : null);
  }

  /** The last line. It stays until the scheduler has the run's end, which it confirms by no longer knowing the run. */
  end(end: RemoteEnd, time: number): void {
    if (this.#hasEnded) return;
    this.#push({ time, end }, null);
    this.#hasEnded = true;
  }

  #push(fields: object, written: string | null): void {
    this.#seq += 1;
    const text = `${JSON.stringify({ seq: this.#seq, ...fields })}\n`;
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    this.#lines.push({ seq: this.#seq, text, bytes, written });
    this.#changed();
  }

  /** Bytes of the lines that the scheduler does not have. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Whether to send a request: the scheduler lacks lines, or may be another one. */
  get isDue(): boolean {
    return !this.isEmpty || this.#isAsked;
  }

  /** The scheduler may be another one, which needs the state even if no line follows. */
  ask(): void {
    this.#isAsked = true;
    this.#changed();
  }

  /** The next lines to send, as NDJSON. */
  next(): string {
    return textOf(batchOf(this.#lines));
  }

  /** Every line up to `stored` is in the scheduler's logs; true if that is more than before. */
  acknowledge(stored: number): boolean {
    this.#isAsked = false;
    const upTo = this.#hasEnded ? Math.min(stored, this.#seq - 1) : stored;
    const left = this.#lines.findIndex(({ seq }) => seq > upTo);
    const gone = this.#lines.splice(0, left === -1 ? this.#lines.length : left);
    for (const line of gone) {
      this.#bytes -= line.bytes;
      if (line.written !== null) this.#state.take(line, line.written);
    }
    if (gone.length > 0) this.#changed();
    return gone.length > 0;
  }

  /** Lines, in requests, that a new scheduler needs again: their state was only in its predecessor's memory. */
  state(): readonly string[] {
    const left = [...this.#state.all()];
    const requests: string[] = [];
    while (left.length > 0) requests.push(textOf(left.splice(0, batchOf(left).length)));
    return requests;
  }

  /** Drops all lines, present and future: the scheduler accepts no more. */
  close(): void {
    this.#hasEnded = true;
    this.#lines = [];
    this.#bytes = 0;
    this.#changed();
  }

  /** Adds a listener, called after every change. */
  addListener(listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** As many of the first lines as fit into a request. */
function batchOf(lines: readonly NumberedLine[]): readonly NumberedLine[] {
  let sum = 0;
  const tooLong = lines.findIndex(({ bytes }, index) => {
    sum += bytes;
    return index > 0 && sum > batchBytes;
  });
  return lines.slice(0, tooLong === -1 ? lines.length : tooLong);
}

function textOf(lines: readonly NumberedLine[]): string {
  return lines.map(({ text }) => text).join("");
}

/** A line as it is sent. */
interface NumberedLine {
  readonly seq: number;
  /** NDJSON, with its newline. */
  readonly text: string;
  /** The size of the text. */
  readonly bytes: number;
}

/** Messages of which only the last counts, and log lines that show whether a text was the model's last word. */
const lastCounts = new Set(["status", "ready", "rerun", "end", "tool", "said"]);

/** Keeps the latest line of each kind, and the returned value with all its pieces. */
function createStateLines() {
  const latest = new Map<string, NumberedLine>();
  let value: NumberedLine[] = [];
  let pieces: NumberedLine[] = [];
  return {
    /** A line of standard output that the scheduler has, as written. */
    take: (line: NumberedLine, written: string) => {
      const message = messageIn(written);
      if (message === null) return;
      const kind = message.type === "log" ? message.kind : message.type;
      // The later of the two lines shows whether the session ended with text of the model.
      if (lastCounts.has(kind)) latest.set(kind === "said" ? "tool" : kind, line);
      if (message.type !== "return") return;
      pieces.push(line);
      if (message.more) return;
      value = pieces;
      pieces = [];
    },
    /** The lines that another scheduler needs, in order. */
    all: (): readonly NumberedLine[] =>
      [...latest.values(), ...value, ...pieces].sort((a, b) => a.seq - b.seq),
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
