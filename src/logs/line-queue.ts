/** Lines that wait for the disk, by file, within a number of bytes. */
export interface LineQueue {
  /** Adds a line, or counts it as dropped when there is no room. */
  push(name: string, line: string): void;
  /** Adds a line although there may be no room. */
  pushAnyway(name: string, line: string): void;
  /** Files that lines wait for. */
  names(): string[];
  isEmpty(): boolean;
  /** Everything that waits for a file; it counts as waiting until it is done or put back. */
  take(name: string): Buffer | null;
  done(bytes: number): void;
  /** Puts back what was taken but for the lines that `written` bytes complete. */
  putBack(name: string, lines: Buffer, written: number): void;
  /** How many lines of a file were dropped since this was last asked. */
  dropped(name: string): number;
}

/** An append takes at most this much, so that a flood in one file does not delay the others. */
const maxAppendBytes = 1024 * 1024;

/** A queue of at most `maxBytes` of ASCII lines. */
export function createLineQueue(maxBytes: number): LineQueue {
  const waiting = new Map<string, string[]>();
  const drops = new Map<string, number>();
  let bytes = 0;

  const pushAnyway = (name: string, line: string): void => {
    bytes += line.length;
    const lines = waiting.get(name);
    if (lines) lines.push(line);
    else waiting.set(name, [line]);
  };

  return {
    push: (name, line) => {
      if (bytes + line.length <= maxBytes) pushAnyway(name, line);
      else drops.set(name, (drops.get(name) ?? 0) + 1);
    },
    pushAnyway,
    names: () => [...waiting.keys()],
    isEmpty: () => waiting.size === 0,
    take: (name) => {
      const lines = waiting.get(name);
      if (lines === undefined) return null;
      const count = fitting(lines);
      const rest = lines.slice(count);
      if (rest.length > 0) waiting.set(name, rest);
      else waiting.delete(name);
      return Buffer.from(lines.slice(0, count).join(""), "latin1");
    },
    done: (count) => {
      bytes -= count;
    },
    putBack: (name, lines, written) => {
      // The line that was cut is written again as a whole.
      const from = written === 0 ? 0 : lines.lastIndexOf("\n", written - 1) + 1;
      bytes -= from;
      const text = lines.toString("latin1", from);
      waiting.set(name, [...(text === "" ? [] : [text]), ...(waiting.get(name) ?? [])]);
    },
    dropped: (name) => {
      const count = drops.get(name) ?? 0;
      drops.delete(name);
      return count;
    },
  };
}

/** How many of the lines make one append. */
function fitting(lines: readonly string[]): number {
  let size = 0;
  const tooMany = lines.findIndex((line, i) => (size += line.length) > maxAppendBytes && i > 0);
  return tooMany === -1 ? lines.length : tooMany;
}
