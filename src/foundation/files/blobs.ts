import { createHash, randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, ifMissing, Problem } from "../errors.ts";
import { createTextReader, hiddenText, type Hide } from "./hidden-text.ts";

/** A stored content. */
export interface Blob {
  /** SHA-256 of the stored bytes, hex. */
  readonly hash: string;
  /** Size of the stored content, which differs from that of the given one if secrets were hidden. */
  readonly bytes: number;
  readonly isText: boolean;
}

/** How long a content stays that no row names yet, in ms. */
const youngMs = 3_600_000;
const chunkBytes = 64 * 1024;
/** In the names of the unfinished files of this process. */
const ownMark = randomBytes(8).toString("hex");
const isHash = /^[\da-f]{64}$/;

/**
 * The contents of a project's files by their hash: `.al/blobs/<2 hex>/<sha256>`. Nothing is created before the first
 * content is stored.
 */
export function createBlobs(projectDir: string) {
  const dir = join(projectDir, ".al", "blobs");
  const stagingDir = join(dir, "staging");
  const folderOf = (hash: string): string => join(dir, hash.slice(0, 2));
  const openBlob = async (hash: string): Promise<FileHandle> => {
    const file = isHash.test(hash)
      ? await open(join(folderOf(hash), hash)).catch(ifMissing(null))
      : null;
    if (file === null) throw new Problem("not_found", `The content ${hash} is not stored.`);
    return file;
  };
  /** The hashes of contents that are about to be renamed. */
  const arriving = new Set<string>();
  let prepared: Promise<void> | undefined;
  /** Removes what an earlier process left unfinished. */
  const prepare = async (): Promise<void> => {
    for (const name of await readdir(stagingDir)) {
      if (!name.startsWith(ownMark)) await rm(join(stagingDir, name), { force: true });
    }
  };
  const keep = async (staged: string, hash: string): Promise<void> => {
    const folder = folderOf(hash);
    const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
    arriving.add(hash);
    // Also replaces an equal one: that may be damaged, and has to be young until a row names it.
    await rename(staged, join(folder, hash)).finally(() => arriving.delete(hash));
    await sync(folder);
    if (isNew) await sync(dir);
  };

  return {
    /**
     * Stores a content and resolves once it is whole on disk, even after a power failure. With `hide`, each secret in a
     * text becomes `[redacted]`, so the stored content has a length and a hash of its own; a binary content is stored as
     * it is. Rejects with what `content` throws, or with Problem `unavailable` if the disk is full; then nothing is stored.
     */
    stage: async (content: AsyncIterable<Buffer>, hide: Hide | null): Promise<Blob> => {
      const staged = join(stagingDir, `${ownMark}-${randomBytes(8).toString("hex")}`);
      const hidden = `${staged}-hidden`;
      try {
        await mkdir(stagingDir, { recursive: true, mode: 0o700 });
        await (prepared ??= prepare()).catch((error: unknown) => {
          prepared = undefined;
          throw error;
        });
        const text = createTextReader(hide);
        const secrets: true[] = [];
        const given = await write(staged, content, async (chunk) => {
          const parts = await (chunk === null ? text.end() : text.add(chunk));
          if (parts.some(({ isSecret }) => isSecret)) secrets[0] = true;
        });
        const isText = text.isText();
        // Only at its end it is known whether a content is a text. Texts without secrets are written once.
        if (hide === null || !isText || secrets.length === 0) {
          await keep(staged, given.hash);
          return { ...given, isText };
        }
        const stored = await write(hidden, hiddenText(chunksOf(staged), hide));
        await keep(hidden, stored.hash);
        return { ...stored, isText };
      } catch (error) {
        throw hasCode(error, "ENOSPC", "EDQUOT") ? noSpace(error) : error;
      } finally {
        await Promise.all([staged, hidden].map((path) => rm(path, { force: true })));
      }
    },
    /** The content in pieces. Iteration throws Problem `not_found`, or `store_corrupt` after the last piece of a damaged one. */
    read: async function* (hash: string): AsyncGenerator<Buffer> {
      await using file = await openBlob(hash);
      const found = createHash("sha256");
      for await (const chunk of chunksIn(file)) {
        found.update(chunk);
        yield chunk;
      }
      if (found.digest("hex") !== hash) {
        throw new Problem("store_corrupt", `The stored content ${hash} is damaged.`);
      }
    },
    /** Opens the content for reading, unchecked. Rejects with Problem `not_found`. */
    open: openBlob,
    /** Deletes contents that are not used and older than an hour, and unfinished ones; resolves to their number. */
    sweep: async (used: ReadonlySet<string>, now = Date.now()): Promise<number> => {
      let deleted = 0;
      for (const folder of await readdir(dir).catch(ifMissing([]))) {
        for (const name of await readdir(join(dir, folder)).catch(ifMissing([]))) {
          if (used.has(name)) continue;
          // In one turn: an equal content may arrive.
          const path = join(dir, folder, name);
          const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
          if (arriving.has(name) || now - changed < youngMs) continue;
          rmSync(path, { force: true });
          deleted += 1;
        }
      }
      return deleted;
    },
  };
}

export type Blobs = ReturnType<typeof createBlobs>;

/** Writes a new file to the disk; `look` gets each chunk, and null at the end. */
async function write(
  path: string,
  content: AsyncIterable<Buffer>,
  look: (chunk: Buffer | null) => Promise<void> = () => Promise.resolve(),
): Promise<Pick<Blob, "hash" | "bytes">> {
  await using file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    await file.writeFile(chunk);
    await look(chunk);
  }
  await look(null);
  await file.sync();
  return { hash: hash.digest("hex"), bytes };
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  await using file = await open(path);
  yield* chunksIn(file);
}

async function* chunksIn(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes) });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function sync(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}

/** Names no path: runs see it. */
function noSpace(cause: unknown): Problem {
  const hint = "Free space on the disk of the project's .al.";
  const text = "The scheduler's disk is full: the file is not stored.";
  return new Problem("unavailable", text, { hint, status: 507, cause });
}
