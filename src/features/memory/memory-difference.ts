import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import { bytesText, counted } from "../../foundation/contracts/format.ts";
import type { Blobs } from "../../foundation/files/blobs.ts";
import type { MemoryFile } from "./memory.ts";
import { isSameFile } from "./rules/merge.ts";

/** Larger files, in bytes, are neither compared nor shown as text. */
const maxTextBytes = 256 * 1024;
/** After so many characters, further files are only counted. */
const maxDifference = 200_000;
/** How long one file is compared, in ms: runs write the texts, and the scheduler must answer meanwhile. */
const compareMs = 50;

/** Where contents are read from. */
export type ReadBlobs = Pick<Blobs, "read">;

interface FileChange {
  readonly path: string;
  readonly change: "added" | "changed" | "removed";
  readonly before: MemoryFile | undefined;
  readonly after: MemoryFile | undefined;
}

/** The files that differ between two states of a memory, in the order of their paths. */
export function changesOf(
  before: readonly MemoryFile[],
  after: readonly MemoryFile[],
): readonly FileChange[] {
  const [old, now] = [before, after].map((files) => new Map(files.map((one) => [one.path, one])));
  const paths = [...new Set([...before, ...after].map(({ path }) => path))].sort();
  return paths.flatMap((path): readonly FileChange[] => {
    const change = { path, before: old?.get(path), after: now?.get(path) };
    if (change.before === undefined) return [{ ...change, change: "added" }];
    if (change.after === undefined) return [{ ...change, change: "removed" }];
    return isSameFile(change.before, change.after) ? [] : [{ ...change, change: "changed" }];
  });
}

/** One state of a memory, as a difference names it. */
interface Side {
  readonly label: string;
  readonly files: readonly MemoryFile[];
}

/** The unified difference between two states of a memory, which ends early after `most` characters; empty if they are equal. */
export async function memoryDifference(
  from: Side,
  to: Side,
  blobs: ReadBlobs,
  most = maxDifference,
): Promise<string> {
  // Loaded with the first difference.
  const { textDifference } = await import("../../foundation/files/text-difference.ts");
  const changes = changesOf(from.files, to.files);
  let text = "";
  for (const [index, { path, before, after }] of changes.entries()) {
    if (text.length > most) {
      return `${text}\\ ${counted(changes.length - index, "more changed file")}\n`;
    }
    const names = [nameOf(from, path, before), nameOf(to, path, after)] as const;
    const [old, now] = [await textOf(before, blobs), await textOf(after, blobs)];
    const compared = old === null || now === null ? "" : textDifference(names, old, now, compareMs);
    text += compared || `--- ${names[0]}\n+++ ${names[1]}\n\\ ${sizes(before, after)}\n`;
    await nextTurn();
  }
  return text;
}

const nameOf = ({ label }: Side, path: string, file: MemoryFile | undefined): string =>
  file === undefined ? "/dev/null" : `${label}/${path}`;

function sizes(before: MemoryFile | undefined, after: MemoryFile | undefined): string {
  const [old, now] = [before, after].map((file) => (file ? bytesText(file.bytes) : "none"));
  if (before?.hash === after?.hash) return `executable: ${after?.isExecutable ? "yes" : "no"}`;
  return `not compared: ${old} before, ${now} after`;
}

/** The content with an end of its last line, which would be a change of its own; null if it is not shown as text. */
async function textOf(file: MemoryFile | undefined, blobs: ReadBlobs): Promise<string | null> {
  const text = file === undefined ? "" : await readText(file, blobs);
  return text === null || text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** A file's content; null if it is binary or large. Rejects with Problem `not_found` or `store_corrupt`. */
export async function readText(file: MemoryFile, blobs: ReadBlobs): Promise<string | null> {
  if (file.bytes > maxTextBytes) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of blobs.read(file.hash)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : null;
}
