import { join } from "node:path";
import { startHotTail } from "./hot-tail.ts";
import type { HotTail } from "./hot-tail.ts";
import type { LogFile } from "./log-files.ts";
import { statOf } from "./log-position.ts";
import type { RawLine } from "./read-lines.ts";

/**
 * What happens in a log file: a new line, some growth whose lines are still to be read, or another file in its place
 * (rotated, truncated, deleted), to be read from its start.
 */
export type TailEvent =
  | { readonly type: "line"; readonly file: LogFile; readonly line: RawLine }
  | { readonly type: "grown"; readonly file: LogFile }
  | { readonly type: "restarted"; readonly file: LogFile };

/** Follows one file; it is open only while it grows, so that 1000 quiet agents hold no open file. */
export interface FileTail {
  /** Reads what is new. `growing` while more may come of what is there already. */
  look(): Promise<"growing" | "quiet">;
  stop(): void;
}

const coolAfterMs = 10_000;
/** Half a line that a crash left counts as growing for this long only. */
const halfLineAfterMs = 1_000;

/** A tail from `position`, of the file with this inode; 0 and 0 for a file that does not exist yet. */
export function createFileTail(
  dir: string,
  file: LogFile,
  start: { readonly position: number; readonly inode: number },
  emit: (event: TailEvent) => void,
): FileTail {
  const path = join(dir, file.name);
  let { position, inode } = start;
  let hot: HotTail | null = null;
  let seenAt = position;
  let grewAt = 0;
  let stopped = false;

  const cool = (): void => {
    hot?.stop();
    hot = null;
  };

  /** Begins at the start when another file took the name, or none has it any more. */
  const noticeRestart = (found: { readonly ino: number; readonly size: number } | null): void => {
    if (found?.ino === inode && found.size >= position) return;
    const hadFile = inode !== 0;
    inode = found?.ino ?? 0;
    if (!hadFile) return;
    cool();
    position = seenAt = 0;
    emit({ type: "restarted", file });
  };

  const onLine = (line: RawLine): void => {
    position = line.end;
    emit({ type: "line", file, line });
  };

  const readOn = (): "growing" | "quiet" => {
    const now = performance.now();
    const moved = hot === null || position !== seenAt;
    if (moved) grewAt = now;
    seenAt = position;
    // After an error the next look finds out what became of the file.
    if (hot === null) hot = startHotTail({ path, offset: position, inode }, onLine, cool);
    else hot.poke();
    return now - grewAt < halfLineAfterMs ? "growing" : "quiet";
  };

  return {
    look: async () => {
      const found = await statOf(path);
      if (stopped) return "quiet";
      noticeRestart(found);
      if (found === null) return "quiet";
      position = hot?.position() ?? position;
      if (found.size !== position) return readOn();
      if (performance.now() - grewAt > coolAfterMs) cool();
      return "quiet";
    },
    stop: () => {
      stopped = true;
      cool();
    },
  };
}
