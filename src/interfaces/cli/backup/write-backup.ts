import {
  createReadStream,
  createWriteStream,
  existsSync,
  globSync,
  rmSync,
  statSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Pack } from "tar-stream";
import { homeDir, storeDir } from "../../../foundation/credentials/read-secret.ts";
import { hasCode, UserError } from "../../../foundation/errors.ts";
import { createPrivately } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { unwritable } from "../write-files.ts";

/** All pages at once: a copy in steps would begin anew with each write of the scheduler. */
const allPages = 2 ** 31 - 1;

/**
 * Writes the project's database and logs, and on request all credentials, to one file of mode 0600. A scheduler may run
 * meanwhile: the file has all that was committed before, and it appears once it is whole.
 */
export async function writeBackup(
  { projectDir, env, out }: Context,
  given: string,
  { credentials = false }: { readonly credentials?: boolean },
): Promise<void> {
  const [file, state] = [resolve(given), join(projectDir, ".al")];
  const database = join(state, "state.db");
  if (existsSync(file))
    throw new UserError("exists", `${file} is there already`, "name another file");
  if (!existsSync(database)) {
    throw new UserError("no_store", `${database} is missing: there is nothing to back up`);
  }
  const [copy, draft] = [`${file}.db`, `${file}.part`];
  try {
    for (const path of [copy, draft]) createPrivately(path);
    await copyDatabase(database, copy);
    const { pack } = await import("tar-stream");
    const archive = pack();
    const written = pipeline(archive, createGzip(), createWriteStream(draft, { flush: true }));
    const secrets = credentials ? globSync("*/*/*", { cwd: storeDir(homeDir(env)) }) : [];
    const files = [
      ["state.db", copy],
      ...globSync("*.log", { cwd: join(state, "logs") }).map(
        (name) => [`logs/${name}`, join(state, "logs", name)] as const,
      ),
      ...secrets.map(
        (name) => [`credentials/${name}`, join(storeDir(homeDir(env)), name)] as const,
      ),
    ] as const;
    for (const [name, path] of files) await addFile(archive, name, path);
    archive.finalize();
    await written;
    await rename(draft, file);
    out.answer({ file, files: files.length, bytes: statSync(file).size }, `${file} is written`);
    if (credentials) out.note("it holds secrets: keep it as safe as they are");
  } catch (error) {
    throw error instanceof UserError ? error : unwritable("the backup", error, "name another file");
  } finally {
    for (const path of [copy, draft]) rmSync(path, { force: true });
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const db = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(db, to, { rate: allPages });
  } finally {
    db.close();
  }
}

/** A log may grow meanwhile, and an old one may go. */
async function addFile(archive: Pack, name: string, path: string): Promise<void> {
  try {
    const { size, mtime } = statSync(path);
    const entry = archive.entry({ name, size, mtime, mode: 0o600 });
    if (size === 0) entry.end();
    else await pipeline(createReadStream(path, { end: size - 1 }), entry);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}
