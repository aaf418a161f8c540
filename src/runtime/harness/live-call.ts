import { StringDecoder } from "node:string_decoder";

/** Progress of a running call, for the log. */
export interface CallProgress extends OutputPiece {
  /** How long the call has run, in ms. */
  readonly durationMs: number;
}

/** How long until the first progress is logged, in ms; a shorter call logs only its result. */
const firstMs = 1_000;
const shortestMs = 500;
/** Pause between two pieces as a share of the call's duration: an hour has at most 300 pieces. */
const share = 1 / 50;
/** A silent call is logged after this time, and after each doubling of it. */
const silentMs = 10_000;

/** Logs the output of a running call, at most twice a second, and at intervals that a silent call still runs. */
export function liveCall(log: (progress: CallProgress) => void) {
  const startedAt = Date.now();
  const output = liveOutput();
  let silentUntil = silentMs;
  let timer: NodeJS.Timeout;

  const look = (): void => {
    const durationMs = Date.now() - startedAt;
    const piece = output.take();
    const isSilent = piece.output.trim() === "" && piece.leftOut === 0;
    if (!isSilent || durationMs >= silentUntil) {
      silentUntil = Math.max(silentMs, 2 * durationMs);
      log({ ...piece, durationMs });
    }
    // Unref'd: the timer must not keep the process of a finished run alive.
    timer = setTimeout(look, Math.max(shortestMs, durationMs * share)).unref();
  };
  timer = setTimeout(look, firstMs).unref();
  return { startedAt, add: output.add, end: () => clearTimeout(timer) };
}

export type LiveCall = ReturnType<typeof liveCall>;

/** The most characters of one piece. */
export const pieceCharacters = 4096;

/** Output of a command since the last piece. */
interface OutputPiece {
  /** Complete lines as they were written; empty if no line is complete. */
  readonly output: string;
  /** How many characters before these lines were dropped. */
  readonly leftOut: number;
}

/**
 * The newest lines of an output that is still being written, in bounded memory. An incomplete line is held until its
 * end, because the redactor doesn't recognize half of a secret. A line that is longer than a piece is dropped.
 */
export function liveOutput() {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let leftOut = 0;
  let isInLongLine = false;

  const drop = (characters: number): void => {
    leftOut += characters;
    pending = pending.slice(characters);
  };
  /** Drops all but the last lines that fit into a piece. */
  const shorten = (): void => {
    if (isInLongLine) {
      const end = lineEnd(pending, 0);
      isInLongLine = end === -1;
      drop(isInLongLine ? pending.length : end);
    }
    if (pending.length <= pieceCharacters) return;
    const start = lineEnd(pending, pending.length - pieceCharacters - 1);
    isInLongLine = start === -1;
    drop(isInLongLine ? pending.length : start);
  };
  return {
    add: (chunk: Buffer) => {
      pending += decoder.write(chunk);
      shorten();
    },
    take: (): OutputPiece => {
      const end = Math.max(pending.lastIndexOf("\n"), pending.lastIndexOf("\r")) + 1;
      const piece = {
        output: pending.slice(0, end).split("\n").map(lastState).join("\n"),
        leftOut,
      };
      pending = pending.slice(end);
      leftOut = 0;
      return piece;
    },
  };
}

/** The final text of a line that was overwritten by `\r`, such as a progress bar. */
function lastState(line: string): string {
  return line.slice(line.lastIndexOf("\r", line.length - 2) + 1);
}

/** The index after the first `\n` or `\r` (progress bars) from `from` on; -1 if neither follows. */
function lineEnd(text: string, from: number): number {
  const at = text.slice(from).search(/[\r\n]/);
  return at === -1 ? -1 : from + at + 1;
}
