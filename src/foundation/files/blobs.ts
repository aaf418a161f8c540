import type { FileHandle } from "node:fs/promises";
import type { TextPart } from "../credentials/text-index.ts";

/** A stored content. */
export interface Blob {
  /** SHA-256 of the stored bytes, hex. */
  readonly hash: string;
  /** Of the stored content, which may be shorter or longer than the given one if secrets were hidden. */
  readonly bytes: number;
  readonly isText: boolean;
}

/** Splits a text at its secrets: `redactor.split`. */
export type Hide = (text: string) => readonly TextPart[];

export interface Blobs {
  readonly stage: (content: AsyncIterable<Buffer>, hide: Hide | null) => Promise<Blob>;
  readonly read: (hash: string) => AsyncIterable<Buffer>;
  readonly open: (hash: string) => Promise<FileHandle>;
  readonly sweep: (used: ReadonlySet<string>) => Promise<number>;
}

/**
 * The contents of a project's files by their hash: `.al/blobs/<2 hex>/<sha256>`. Nothing is created before the first
 * content is stored.
 */
export function createBlobs(projectDir: string): Blobs {
  const later = (): never => {
    throw new Error(`not written yet: ${projectDir}`);
  };
  return {
    /**
     * Stores a content and resolves once it is whole on disk, even after a power failure. With `hide`, secrets in a text
     * become `[redacted]`; a binary content is stored as it is. Rejects with what `content` throws, or with Problem
     * `unavailable` if the disk is full; then nothing is stored.
     */
    stage: later,
    /** The content in pieces. Throws Problem `not_found`, or `store_corrupt` at its end if it is damaged. */
    read: later,
    /** Opens the content for reading, unchecked. Rejects with Problem `not_found`. */
    open: later,
    /** Deletes contents that are not used and older than an hour; resolves to their number. */
    sweep: later,
  };
}
