/** An append takes at most this much, so that a flood in one file does not delay the others. */
const maxAppendBytes = 1024 * 1024;

/** Bytes of the lines of one file: all of them, and those that wait no more. */
interface Progress {
  pushed: number;
  done: number;
}

/** How far the files have to be for all lines that waited at one moment. */
export type QueueMark = readonly { readonly progress: Readonly<Progress>; readonly at: number }[];

/** Lines that wait for the disk, by file: at most `maxBytes` of ASCII. */
export function createLineQueue(maxBytes: number) {
  const waiting = new Map<string, string[]>();
  const drops = new Map<string, number>();
  /** The progress of each file that lines wait for, also while they are taken. */
  const progresses = new Map<string, Progress>();
  let bytes = 0;

  const pushAnyway = (name: string, line: string): void => {
    bytes += line.length;
    const progress = progresses.get(name) ?? { pushed: 0, done: 0 };
    progress.pushed += line.length;
    progresses.set(name, progress);
    const lines = waiting.get(name);
    if (lines) lines.push(line);
    else waiting.set(name, [line]);
  };

  const done = (name: string, count: number): void => {
    bytes -= count;
    const progress = progresses.get(name);
    if (progress === undefined) return;
    progress.done += count;
    if (progress.done === progress.pushed) progresses.delete(name);
  };

  return {
    /** Adds a line, or counts it as dropped when there is no room. */
    push: (name: string, line: string): void => {
      if (bytes + line.length <= maxBytes) pushAnyway(name, line);
      else drops.set(name, (drops.get(name) ?? 0) + 1);
    },
    /** Adds a line although there may be no room. */
    pushAnyway,
    /** Files that lines wait for. */
    names: () => [...waiting.keys()],
    isEmpty: () => waiting.size === 0,
    /** Everything that waits for a file; it counts as waiting until it is done or put back. */
    take: (name: string): Buffer | null => {
      const lines = waiting.get(name);
      if (lines === undefined) return null;
      const count = fitting(lines);
      const rest = lines.slice(count);
      if (rest.length > 0) waiting.set(name, rest);
      else waiting.delete(name);
      return Buffer.from(lines.slice(0, count).join(""), "latin1");
    },
    done,
    /** All lines that wait now. */
    mark: (): QueueMark =>
      [...progresses.values()].map((progress) => ({ progress, at: progress.pushed })),
    /** Whether none of those lines waits any more. */
    isPast: (mark: QueueMark): boolean => mark.every(({ progress, at }) => progress.done >= at),
    /** Whether so much waits that new lines may be dropped soon. */
    isHalfFull: () => bytes > maxBytes / 2,
    /** Puts back what was taken but for the lines that `written` bytes complete. */
    putBack: (name: string, lines: Buffer, written: number): void => {
      // The line that was cut is written again as a whole.
      const from = written === 0 ? 0 : lines.lastIndexOf("\n", written - 1) + 1;
      done(name, from);
      const text = lines.toString("latin1", from);
      waiting.set(name, [...(text === "" ? [] : [text]), ...(waiting.get(name) ?? [])]);
    },
    /** How many lines of a file were dropped since the last call. */
    dropped: (name: string): number => {
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
