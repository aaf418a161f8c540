import { StringDecoder } from "node:string_decoder";

/** Characters of one piece. */
export const pieceCharacters = 4096;

/** What a command printed since the last piece. */
export interface OutputPiece {
  /** Whole lines as they were written; empty when there was none. */
  readonly output: string;
  /** Characters before them that are in no piece. */
  readonly leftOut: number;
}

export interface LiveOutput {
  readonly add: (chunk: Buffer) => void;
  readonly take: () => OutputPiece;
}

/**
 * The newest lines of an output that is still being written, in bounded memory. A line that is not whole waits for its
 * end: half of a secret is not recognized as one. A line that is longer than a piece is left out.
 */
export function liveOutput(): LiveOutput {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let leftOut = 0;
  let isInLongLine = false;

  const drop = (characters: number): void => {
    leftOut += characters;
    pending = pending.slice(characters);
  };
  /** Leaves the last lines that fit into a piece. */
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
    add: (chunk) => {
      pending += decoder.write(chunk);
      shorten();
    },
    take: () => {
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

/** The last state of a line that was overwritten, as a progress bar does. */
function lastState(line: string): string {
  return line.slice(line.lastIndexOf("\r", line.length - 2) + 1);
}

/** Behind the first end of a line from `from` on, where progress bars end theirs with `\r`; -1 without one. */
function lineEnd(text: string, from: number): number {
  const at = text.slice(from).search(/[\r\n]/);
  return at === -1 ? -1 : from + at + 1;
}
