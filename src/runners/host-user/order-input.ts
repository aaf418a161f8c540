import type { Readable } from "node:stream";
import { maxDocumentBytes } from "../../contracts/body-limits.ts";

/** A job's own limit and its order. */
const maxInputBytes = maxDocumentBytes + 1024 * 1024;
const newline = 0x0a;

export const notWhole =
  "no whole order came on standard input; the scheduler runs this command, not a person";

/** A supervisor's standard input. Both reject when it ends before, as a scheduler that died while it wrote leaves it. */
export interface OrderInput {
  /** The next line. */
  line(): Promise<string>;
  /** All lines that are left, at least one, with the ends of lines; resolves when the input ends. */
  rest(): Promise<Buffer>;
}

/** Reads orders from `input`. */
export function orderInput(input: Readable): OrderInput {
  const source = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let chunks: Buffer[] = [];
  let size = 0;
  /** False when nothing comes any more. */
  const more = async (): Promise<boolean> => {
    const next = await source.next();
    if (next.done === true) return false;
    chunks.push(next.value);
    size += next.value.length;
    if (size > maxInputBytes) throw new Error(`more than ${maxInputBytes} bytes on standard input`);
    return true;
  };
  return {
    line: async () => {
      while (!chunks.at(-1)?.includes(newline)) {
        if (!(await more())) throw new Error(notWhole);
      }
      const all = Buffer.concat(chunks);
      const end = all.indexOf(newline);
      chunks = [all.subarray(end + 1)];
      return all.toString("utf8", 0, end);
    },
    rest: async () => {
      while (await more());
      const all = Buffer.concat(chunks);
      if (all.at(-1) !== newline) throw new Error(notWhole);
      return all;
    },
  };
}
