import { constants, createWriteStream, existsSync, globSync } from "node:fs";
import { link, mkdtemp, open, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Pack } from "tar-stream";
import { homeDir, storeDir } from "../../../foundation/credentials/read-secret.ts";
import { hasCode, ifMissing, Problem } from "../../../foundation/errors.ts";
import { createPrivately } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { unwritable } from "../write-files.ts";

/** All pages at once: a copy in steps would restart at each write of the scheduler. */
const allPages = 2 ** 31 - 1;

/** A file to store, and its name in the archive. */
type Entry = readonly [name: string, path: string];

/**
 * Writes the project's database, logs and kept files, and on request all credentials, to one file of mode 0600. A scheduler may
 * run meanwhile: the file has everything committed before, and appears once it is complete.
 */
export async function writeBackup(
  { projectDir, env, out }: Context,
  given: string,
  { credentials = false }: { readonly credentials?: boolean },
): Promise<void> {
  const [file, state] = [resolve(given), join(projectDir, ".al")];
  const database = join(state, "state.db");
  if (existsSync(file)) throw existing(file);
  if (!existsSync(database)) {
    throw new Problem("no_store", `${database} is missing: there is nothing to back up`);
  }
  let drafts: string | null = null;
  try {
    drafts = await mkdtemp(join(dirname(file), ".al-backup-"));
    const [copy, draft] = [join(drafts, "state.db"), join(drafts, "backup.tgz")];
    createPrivately(copy);
    await copyDatabase(database, copy);
    const logs = entriesOf("logs", join(state, "logs"), "*");
    const secrets = credentials ? entriesOf("credentials", storeDir(homeDir(env)), "*/*/*") : [];
    // Listed after the database was copied, whose rows name contents that are on disk.
    const blobs = entriesOf("blobs", join(state, "blobs"), "*/*");
    const files = await archive(draft, [["state.db", copy], ...logs, ...blobs, ...secrets]);
    // Unlike a rename, a link never replaces a file.
    await link(draft, file);
    out.answer({ file, files, bytes: (await stat(file)).size }, `${file} is written`);
    if (credentials) out.note("it contains secrets: keep it as safe as they are");
  } catch (error) {
    if (hasCode(error, "EEXIST")) throw existing(file);
    throw unwritable(
      file,
      error,
      hasCode(error, "ENOENT", "ENOTDIR") && !existsSync(dirname(file))
        ? `Create the directory ${dirname(file)} first, or name a file in another one.`
        : "Free some space there, or name a file on another disk.",
    );
  } finally {
    if (drafts !== null) await rm(drafts, { recursive: true, force: true });
  }
}

function existing(file: string): Problem {
  return new Problem("exists", `${file} already exists`, "Name another file.");
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const db = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(db, to, { rate: allPages });
  } finally {
    db.close();
  }
}

/** The files in a folder that al restore takes. */
function entriesOf(name: string, folder: string, pattern: string): Entry[] {
  return globSync(pattern, { cwd: folder })
    .map((path): Entry => [`${name}/${path}`, join(folder, path)])
    .filter(([entry]) => stateName.test(entry) || secretName.test(entry));
}

/** Writes the entries to a new file; returns their number. */
async function archive(path: string, entries: readonly Entry[]): Promise<number> {
  const { pack } = await import("tar-stream");
  const tar = pack();
  let files = 0;
  const fill = async (): Promise<void> => {
    for (const entry of entries) if (await addFile(tar, entry)) files += 1;
    tar.finalize();
  };
  await Promise.all([
    pipeline(tar, createGzip(), createWriteStream(path, { flags: "wx", mode: 0o600, flush: true })),
    fill().catch((error: unknown) => tar.destroy(error as Error)),
  ]);
  return files;
}

/** False for a folder, and for a file that was deleted meanwhile, as old logs are. A log may grow meanwhile. */
async function addFile(tar: Pack, [name, path]: Entry): Promise<boolean> {
  // Without O_NONBLOCK a FIFO would wait for its writer forever.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch(ifMissing(null));
  const stats = await file?.stat();
  if (!file || !stats?.isFile()) return false;
  const { size, mtime } = stats;
  const entry = tar.entry({ name, size, mtime, mode: 0o600 });
  if (size === 0) entry.end();
  else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), entry);
  return true;
}

const word = "[\\w-][\\w.@-]*";

/** Names of the entries of a backup; the group of a credential's name is its path in the store. */
export const stateName = new RegExp(
  `^(state\\.db|logs/${word}\\.log|blobs/[\\da-f]{2}/[\\da-f]{64})$`,
);
export const secretName = new RegExp(`^credentials/(${word}/${word}/${word})$`);
