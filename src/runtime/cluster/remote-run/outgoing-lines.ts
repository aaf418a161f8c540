import { maxLinesBytes } from "../../../foundation/contracts/remote-run.ts";
import type { RemoteEnd } from "../../../foundation/contracts/remote-run.ts";
import { createStateLines } from "./state-lines.ts";
import type { NumberedLine } from "./state-lines.ts";

/** Bytes of one request. A line has at most 32 KiB, of which escapes make six times as many. */
const batchBytes = maxLinesBytes / 2;

interface OutgoingLine extends NumberedLine {
  /** What the run wrote on standard output; null for any other line. */
  readonly written: string | null;
}

/** What a run wrote and the scheduler does not have yet, numbered from 1. */
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

  /** The last line. It stays until the scheduler has the run's end, which it answers by knowing the run no more. */
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

  /** Whether the scheduler has to be asked: it lacks lines, or may be another one. */
  get isDue(): boolean {
    return !this.isEmpty || this.#isAsked;
  }

  /** The scheduler may be another one, which has to get the state even when no line follows. */
  ask(): void {
    this.#isAsked = true;
    this.#changed();
  }

  /** The next lines to send, as NDJSON. */
  next(): string {
    return textOf(batchOf(this.#lines));
  }

  /** Every line up to `stored` is in the scheduler's logs; true when it has more of them than before. */
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

  /** What a scheduler needs that has these lines in its logs alone, in requests. */
  state(): readonly string[] {
    const left = [...this.#state.all()];
    const requests: string[] = [];
    while (left.length > 0) requests.push(textOf(left.splice(0, batchOf(left).length)));
    return requests;
  }

  /** The scheduler takes no more: what there is goes, and what comes, too. */
  close(): void {
    this.#hasEnded = true;
    this.#lines = [];
    this.#bytes = 0;
    this.#changed();
  }

  /** Calls it after every change. */
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
