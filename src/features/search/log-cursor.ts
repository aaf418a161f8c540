import { accessSync, constants, statSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { leaves } from "../../foundation/logs/log-scan.ts";
import { ifMissing } from "../../foundation/errors.ts";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import { readForward, type RawLine } from "../../foundation/logs/read-lines.ts";
import { kindOf } from "../../foundation/contracts/log-kinds.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";
import type { SearchKind } from "./search-kinds.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";

/** How far a log file is indexed. */
export interface IndexedFile {
  readonly id: number;
  readonly name: string;
  readonly inode: number;
  /** Bytes. */
  readonly indexed: number;
  /** The last indexed bytes, which tell the file from another of the same name. */
  readonly tail: string;
}

/** Bytes before a place in a log file that identify the file. */
const tailBytes = 64;

/**
 * The size of a log file in bytes; null if it is missing or can't be read. Non-regular files count as missing: opening
 * a pipe would wait for its writer.
 */
export function readableSize(path: string): number | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return null;
    accessSync(path, constants.R_OK);
    return stats.size;
  } catch {
    return null;
  }
}

/** Null if the file is missing. */
export async function inodeOf(dir: string, name: string): Promise<number | null> {
  return (await stat(join(dir, name)).catch(ifMissing(null)))?.ino ?? null;
}

/** Whether the file still holds the lines that are indexed. */
export async function isSameFile(
  dir: string,
  { name, inode, indexed, tail }: IndexedFile,
): Promise<boolean> {
  const path = join(dir, name);
  if (readableSize(path) === null) return false;
  await using file = await open(path, "r").catch(ifMissing(null));
  if (file === null) return false;
  const { ino, size } = await file.stat();
  if (ino !== inode || size < indexed) return false;
  const data = Buffer.alloc(tail.length);
  const { bytesRead } = await file.read(data, 0, tail.length, indexed - tail.length);
  return data.toString("latin1", 0, bytesRead) === tail;
}

/** The last bytes of a line, newline included; one character a byte. */
export function tailOf({ text }: RawLine): string {
  return Buffer.from(`${text}\n`).subarray(-tailBytes).toString("latin1");
}

/** Reads the lines of a log file that are not indexed, one after the other. */
export class LogCursor {
  /** How far the file is committed. */
  indexed: IndexedFile;
  /** The next line, its content null if it has no text to find; undefined at the end. */
  head: { readonly line: RawLine; readonly content: LineContent | null } | undefined;
  /** Epoch ms; a line without a time has that of the line before. */
  time = 0;
  readonly #lines: AsyncGenerator<RawLine>;

  constructor(dir: string, file: LogFile, indexed: IndexedFile) {
    this.indexed = indexed;
    this.#lines = readForward(join(dir, file.name), indexed.indexed);
  }

  async advance(): Promise<void> {
    const next = await this.#lines.next();
    if (next.done) {
      this.head = undefined;
      return;
    }
    const content = contentOf(next.value.text);
    this.time = Math.max(this.time, content?.time ?? 0);
    this.head = { line: next.value, content };
  }

  close(): Promise<unknown> {
    return this.#lines.return(undefined);
  }
}

/** The searchable part of a log line. */
export interface LineContent {
  /** Epoch ms. */
  readonly time: number;
  readonly kind: Exclude<SearchKind, "error">;
  readonly isError: boolean;
  readonly instanceId: string | null;
  readonly text: string;
}

/** How many characters of a tool's result are indexed: files that it read would be most of the index. */
const maxOutput = 4096;
/** Deeper values are skipped: a line of brackets must not stop the index. */
const maxDepth = 20;
/** Latest time that a Date can hold, epoch ms. */
const maxTime = 8.64e15;

/**
 * Null for a line without text of its own: it counts tokens, repeats output that the end of the call has, or was not
 * written by a log writer.
 */
export function contentOf(line: string): LineContent | null {
  const entry = parse(line);
  if (entry === null) return null;
  const kind = kindOf(entry) ?? "scheduler";
  if (kind === "usage" || kind === "tool-output") return null;
  const { time, level, instanceId, isError } = entry;
  return {
    time,
    kind,
    isError: level >= 50 || isError === true,
    instanceId: typeof instanceId === "string" ? instanceId : null,
    text: textOf(entry),
  };
}

function parse(line: string): LogEntry | null {
  try {
    const value = JSON.parse(line) as LogEntry | null;
    if (typeof value?.msg !== "string" || typeof value.time !== "number") return null;
    return Math.abs(value.time) <= maxTime ? value : null;
  } catch {
    return null;
  }
}

function textOf({ msg, tool, input, output, trigger }: LogEntry): string {
  // In JSON, `\\n` would join the word that follows.
  const named = [...(typeof tool === "string" ? [tool] : []), ...leaves(input, maxDepth)];
  const returned = leaves(output, maxDepth).join("\n").slice(0, maxOutput);
  // The first line of a run has its prompt, or the title, repository and number of its event.
  const started = leaves(trigger, maxDepth);
  const parts = [msg, ...named.filter((text) => !msg.includes(text)), ...started, returned];
  // Colours of a terminal would be a part of the words after them.
  return plainText(parts.filter((part) => part !== "").join("\n"));
}
