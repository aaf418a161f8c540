import { existsSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Tail from "tail-file";
import { ifMissing } from "../../../foundation/errors.ts";

/** Log lines are shorter. The rest of a longer one is dropped: an endless line would fill the memory. */
const maxLineBytes = 64 * 1024;
/** Ends a line, and drops parts of one that is too long. */
const lineEnd = new RegExp(`^[^\\n]{${maxLineBytes}}|\\n`);

/** How often the file is checked, in ms: some file systems report no changes. */
const checkMs = 500;

/** In latin1 a character is a byte: positions are exact, and no read splits a character. */
class ByteTail extends Tail {
  override setCharPos(position: number): void {
    this.setBytePos(position);
  }
}

/**
 * The lines of a file after the byte `start`, then each new one. A missing file is waited for; a truncated one is read
 * from its start. Ends after the last line once `isOver` is true, and when the file is removed.
 */
export async function* tailLines(
  path: string,
  start: number,
  isOver: () => boolean,
): AsyncGenerator<string> {
  while (!existsSync(path)) {
    if (isOver()) return;
    await sleep(checkMs);
  }
  const lines: string[] = [];
  let wake = (): void => undefined;
  let problem: unknown = null;
  const tail = new ByteTail(path, {
    encoding: "latin1",
    sep: lineEnd,
    startPos: start,
    _bufsize: maxLineBytes,
  });
  tail.on("line", (line: string) => {
    if (line !== "") lines.push(Buffer.from(line, "latin1").toString("utf8"));
    wake();
  });
  tail.on("error", (error: unknown) => {
    problem = error;
    wake();
  });
  // A stop before the tail has started would leave it running.
  await tail.startP().catch(ifMissing(true));
  try {
    while (problem === null) {
      tail.checkDir("change", basename(path));
      const { promise, resolve } = Promise.withResolvers<undefined>();
      wake = () => resolve(undefined);
      const timer = setTimeout(wake, checkMs);
      if (lines.length === 0) await promise;
      clearTimeout(timer);
      const isIdle = lines.length === 0;
      yield* lines.splice(0);
      if (isIdle && isOver()) return;
    }
    ifMissing(true)(problem);
  } finally {
    await tail.stop();
  }
}
