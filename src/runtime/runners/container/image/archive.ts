import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createHash } from "node:crypto";
import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Headers, Pack } from "tar-stream";

/** One entry of a build context. Paths are relative, with slashes. */
export type TarEntry = { readonly path: string } & (
  | { readonly type: "directory" }
  | { readonly type: "symlink"; readonly target: string }
  | { readonly type: "content"; readonly content: Buffer }
  | {
      readonly type: "file";
      /** Absolute path of its source. */
      readonly from: string;
      readonly size: number;
      readonly executable: boolean;
    }
);

type FileEntry = Extract<TarEntry, { readonly type: "file" }>;

/** Owner root and time 0, so that equal contents are equal archives. */
const constant = { uid: 0, gid: 0, mtime: new Date(0) };

/** A tar archive of the entries, chunk by chunk. Throws if a file's size changed after it was listed. */
export async function* packTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  // Loaded on demand: most starts build no image.
  const { pack } = await import("tar-stream");
  const archive = pack();
  const added = addAll(archive, entries).catch((error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  yield* archive as AsyncIterable<Buffer>;
  await added;
}

async function addAll(archive: Pack, entries: AsyncIterable<TarEntry>): Promise<void> {
  for await (const entry of entries) {
    if (entry.type === "file") await addFile(archive, entry);
    else if (entry.type === "content") {
      archive.entry({ name: entry.path, mode: 0o644, ...constant }, entry.content);
    } else archive.entry(headerOf(entry));
  }
  archive.finalize();
}

function headerOf(entry: Exclude<TarEntry, { readonly type: "file" | "content" }>): Headers {
  const { path: name, type } = entry;
  return type === "directory"
    ? { name, type, mode: 0o755, ...constant }
    : { name, type, mode: 0o644, linkname: entry.target, ...constant };
}

async function addFile(archive: Pack, entry: FileEntry): Promise<void> {
  const { path: name, size, executable } = entry;
  const header = { name, size, mode: executable ? 0o755 : 0o644, ...constant };
  const file = Readable.from(contentOf(archive, entry), { objectMode: false });
  await pipeline(file, archive.entry(header));
}

/** Destroys the archive itself on an error: the library would end it without the reason. */
async function* contentOf(archive: Pack, { from, size }: FileEntry): AsyncGenerator<Buffer> {
  try {
    let left = size;
    for await (const chunk of createReadStream(from) as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) break;
      yield chunk;
    }
    if (left !== 0) throw new Error(`${from} changed while it was packed`);
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

/** SHA-256 in hex of names, modes and contents. */
export async function hashEntries(entries: AsyncIterable<TarEntry>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of packTar(entries)) hash.update(chunk);
  return hash.digest("hex");
}

/**
 * Everything below `root` as entries below `path`, sorted, so that equal trees give equal archives. `skip` gets the name
 * and the path relative to `root`. Only files, directories and links are included.
 */
export async function* walk(
  root: string,
  path: string,
  skip: (name: string, relative: string) => boolean,
  relative = "",
): AsyncGenerator<TarEntry> {
  const entries = await readdir(join(root, relative), { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const below = relative === "" ? entry.name : `${relative}/${entry.name}`;
    if (skip(entry.name, below)) continue;
    const from = join(root, below);
    const to = path === "" ? below : `${path}/${below}`;
    if (entry.isDirectory()) {
      yield { type: "directory", path: to };
      yield* walk(root, path, skip, below);
    } else if (entry.isSymbolicLink()) {
      yield { type: "symlink", path: to, target: await readlink(from) };
    } else if (entry.isFile()) {
      const { size, mode } = await stat(from);
      yield { type: "file", path: to, from, size, executable: (mode & 0o111) !== 0 };
    }
  }
}
