import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";

/** One entry of a build context. Paths are relative, with slashes. */
export type TarEntry = { readonly path: string } & (
  | { readonly type: "directory" }
  | { readonly type: "symlink"; readonly target: string }
  | { readonly type: "content"; readonly content: Buffer }
  | {
      readonly type: "file";
      /** Absolute path to read it from. */
      readonly from: string;
      readonly size: number;
      readonly executable: boolean;
    }
);

const blockBytes = 512;
const typeFlags = { content: "0", file: "0", symlink: "2", directory: "5", pax: "x" } as const;

/**
 * A POSIX tar (ustar with pax headers for long names) of the entries, chunk by chunk. Owner root and time 0, so
 * that equal contents are equal archives. Throws when a file changed its size after it was listed.
 */
export async function* packTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    const { path } = entry;
    const target = entry.type === "symlink" ? entry.target : "";
    yield* longNames(path, target);
    yield header({ type: entry.type, path, target, size: sizeOf(entry), mode: modeOf(entry) });
    if (entry.type === "content") yield padded(entry.content);
    if (entry.type === "file") yield* fileBlocks(entry.from, entry.size);
  }
  yield Buffer.alloc(2 * blockBytes);
}

async function* fileBlocks(from: string, size: number): AsyncGenerator<Buffer> {
  let left = size;
  const stream: Readable = createReadStream(from);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error(`${from} changed while it was packed`);
  yield Buffer.alloc(paddingOf(size));
}

function sizeOf(entry: TarEntry): number {
  if (entry.type === "file") return entry.size;
  return entry.type === "content" ? entry.content.length : 0;
}

function modeOf(entry: TarEntry): number {
  if (entry.type === "directory") return 0o755;
  return entry.type === "file" && entry.executable ? 0o755 : 0o644;
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc(paddingOf(content.length))]);
}

function* longNames(path: string, target: string): Generator<Buffer> {
  const records = [
    ...(Buffer.byteLength(path) > 100 ? [paxRecord("path", path)] : []),
    ...(Buffer.byteLength(target) > 100 ? [paxRecord("linkpath", target)] : []),
  ];
  if (records.length === 0) return;
  const content = Buffer.from(records.join(""));
  yield header({ type: "pax", path: "pax", target: "", size: content.length, mode: 0o644 });
  yield padded(content);
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const guess = bytes + String(bytes).length;
  const length = bytes + String(guess).length;
  return `${length}${rest}`;
}

interface Header {
  readonly type: keyof typeof typeFlags;
  readonly path: string;
  /** Of a link; empty for anything else. */
  readonly target: string;
  readonly size: number;
  readonly mode: number;
}

function header({ type, path, target, size, mode }: Header): Buffer {
  const block = Buffer.alloc(blockBytes);
  // A name that is cut here has its whole text in the pax header before it.
  block.write(path, 0, 100);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write("        ", 148);
  block.write(typeFlags[type], 156);
  block.write(target, 157, 100);
  block.write("ustar\u000000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
