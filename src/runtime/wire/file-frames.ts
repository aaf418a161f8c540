import { z } from "zod";
import {
  createTreePaths,
  maxLeftOut,
  pathProblem,
  type LeftOutFile,
  type TreeEntries,
  type TreeEntry,
  type TreeFile,
  type TreeLimits,
  type TreeUpload,
} from "../../foundation/contracts/file-tree.ts";
import { refusal } from "./protocol.ts";

const fileSchema = z.strictObject({
  path: z.string(),
  bytes: z.int().min(0),
  isExecutable: z.boolean(),
});
const leftOutSchema = z.strictObject({
  leftOut: z.strictObject({
    path: z.string(),
    why: z.string(),
    bytes: z.int().min(0).optional(),
  }),
});
const endSchema = z.strictObject({ end: z.literal(true), more: z.int().min(0).optional() });
const lineSchema = z.union([fileSchema, leftOutSchema, endSchema]);

/** The longest line: a path of 1,024 bytes may be escaped. */
export const maxLineBytes = 8 * 1024;
const newline = 0x0a;

/**
 * The wire form of a tree, in both directions: for each entry a line of JSON with `path`, `bytes` and `isExecutable`, and
 * that many bytes; a line for each of the first files that were left out; and `{"end":true}`, with the number of the others, without which the tree is cut and counts for
 * nothing. Links, devices and owners have no wire form. Throws if a content has another length than its entry.
 */
export async function* packFrames(
  entries: TreeEntries,
  leftOut: () => readonly LeftOutFile[] = () => [],
  more = 0,
): AsyncGenerator<Buffer> {
  for await (const { content, ...file } of entries) {
    yield fileLine(file);
    let left = file.bytes;
    for await (const chunk of content) {
      left -= chunk.length;
      if (left < 0) break;
      if (chunk.length > 0) yield chunk;
    }
    if (left !== 0) throw new Error(`${file.path}: its content does not have ${file.bytes} bytes`);
  }
  yield lastLines(leftOut(), more);
}

/** The line before the content of a file. */
export function fileLine({ path, bytes, isExecutable }: TreeFile): Buffer {
  return lineOf({ path, bytes, isExecutable });
}

/** The lines after the last file. */
export function lastLines(leftOut: readonly LeftOutFile[], more = 0): Buffer {
  const named = leftOut.slice(0, maxLeftOut).map((file) => lineOf({ leftOut: file }));
  return Buffer.concat([...named, lineOf({ end: true, ...(more > 0 && { more }) })]);
}

function lineOf(line: z.infer<typeof lineSchema>): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/**
 * Reads a tree as its bytes arrive. Iteration throws a Problem at the first breach of a limit, and if the stream is cut. Of an
 * entry whose content was not read, the rest is skipped.
 */
export function readFrames(stream: AsyncIterable<Buffer>, limits: TreeLimits): TreeUpload {
  const leftOut: LeftOutFile[] = [];
  let more = 0;
  const read = async function* (): AsyncGenerator<TreeEntry> {
    await using source = createSource(stream);
    const check = createFileCheck(limits);
    for (;;) {
      const line = lineIn(await source.line());
      if ("end" in line) {
        more = line.more ?? 0;
        break;
      }
      if ("leftOut" in line) {
        if (leftOut.push(line.leftOut) > maxLeftOut) throw broken("names too many files left out");
        continue;
      }
      check(line);
      const content = source.take(line.bytes);
      yield { ...line, content };
      await skip(content);
    }
    if (await source.hasMore()) throw broken("has bytes after its last line");
  };
  return { [Symbol.asyncIterator]: read, leftOut: () => leftOut, more: () => more };
}

/** Checks each file before its content is read. The returned function throws a Problem. */
function createFileCheck(limits: TreeLimits): (file: TreeFile) => void {
  const paths = createTreePaths(limits);
  let total = 0;
  return ({ path, bytes }) => {
    const problem = pathProblem(path, limits) ?? paths.add(path);
    if (problem !== null) throw broken(`has a path that ${problem}: ${shown(path)}`);
    if (bytes > limits.fileBytes) {
      throw broken(`has a file of more than ${limits.fileBytes} bytes: ${shown(path)}`);
    }
    total += bytes;
    if (total > limits.bytes) throw broken(`has more than ${limits.bytes} bytes`);
  };
}

function lineIn(text: string): z.infer<typeof lineSchema> {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    throw broken("has a line that describes no file");
  }
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}

function broken(how: string) {
  return refusal("malformed", `The tree ${how}.`);
}

/** Skips the part of a content that its reader left. */
async function skip(content: AsyncIterable<Buffer>): Promise<void> {
  const chunks = content[Symbol.asyncIterator]();
  while ((await chunks.next()).done !== true);
}

/** The bytes of a stream, as lines and as contents of known lengths. Holds one chunk and the beginning of a line. */
function createSource(stream: AsyncIterable<Buffer>) {
  const chunks = stream[Symbol.asyncIterator]();
  const line = Buffer.alloc(maxLineBytes);
  let rest: Buffer = Buffer.alloc(0);
  const hasMore = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return false;
      rest = next.value;
    }
    return true;
  };
  /** The next bytes of this chunk, at most so many. */
  const next = async (most: number): Promise<Buffer> => {
    if (!(await hasMore())) throw broken("is cut");
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  };
  return {
    hasMore,
    line: async (): Promise<string> => {
      let size = 0;
      for (;;) {
        await hasMore();
        const end = rest.indexOf(newline);
        const part = await next(end === -1 ? Infinity : end + 1);
        if (size + part.length > maxLineBytes) throw broken("has a line that is too long");
        size += part.copy(line, size);
        if (end !== -1) return line.toString("utf8", 0, size);
      }
    },
    /** The next bytes. If its iteration ends early, another one continues there. */
    take: (bytes: number): AsyncIterable<Buffer> => {
      let left = bytes;
      return {
        [Symbol.asyncIterator]: async function* () {
          while (left > 0) {
            const chunk = await next(left);
            left -= chunk.length;
            yield chunk;
          }
        },
      };
    },
    [Symbol.asyncDispose]: async () => void (await chunks.return?.()),
  };
}
