import { openStore } from "../../../features/open-store.ts";
import { createReadStream, createWriteStream, existsSync, globSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Headers } from "tar-stream";
import { homeDir, storeDir } from "../../../foundation/credentials/read-secret.ts";
import { hasCode, Problem, failureOf } from "../../../foundation/errors.ts";
import { lockProject } from "../../../foundation/store/project-lock.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import { packageVersion } from "../../../foundation/version.ts";
import type { Context } from "../context.ts";
import { secretName, stateName } from "./write-backup.ts";

/** Where a backup is unpacked: a draft of the project, and one of the credential store or null. */
interface Drafts {
  readonly project: string;
  readonly secrets: string | null;
}

/**
 * Restores the database, the logs and the kept files of a backup into a project that has none, and on request the missing credentials.
 * Live runs in it are lost: the next start retries their work. Each file is moved into place once the whole backup was
 * read and its database was opened.
 */
export async function restoreBackup(
  { projectDir, env, out }: Context,
  given: string,
  { credentials = false }: { readonly credentials?: boolean },
): Promise<void> {
  if (!existsSync(given)) throw new Problem("bad_backup", `there is no file ${given}`);
  const unlocked = { socketPath: null, gatewayUrl: null, version: packageVersion() };
  const startedAt = new Date().toISOString();
  const lock = lockProject(projectDir, { pid: process.pid, startedAt, ...unlocked });
  const state = ensureStateDir(projectDir);
  const [project, store] = [join(state, "restored"), storeDir(homeDir(env))];
  let secrets: string | null = null;
  try {
    refuseExisting(state);
    await rm(project, { recursive: true, force: true });
    if (credentials) secrets = await draftBeside(store);
    await unpack(resolve(given), { project, secrets });
    const lost = await recoverWork(project);
    const stored = await placeSecrets(secrets, store);
    await placeState(join(project, ".al"), state);
    out.answer({ projectDir, ...stored, lost }, `${projectDir} is restored`);
    if (lost > 0) out.note(`runs that were under way: ${lost}; their work is tried once more`);
    if (stored.kept > 0) out.note(`existing credentials that were kept: ${stored.kept}`);
  } catch (error) {
    throw hasCode(error, "exists") ? error : failed(given, error);
  } finally {
    for (const draft of [project, secrets ?? project])
      await rm(draft, { recursive: true, force: true });
    lock.release();
  }
}

/** SQLite would take the log of another database for the restored one's. */
function refuseExisting(state: string): void {
  const [found] = globSync(["state.db", "state.db-{wal,shm,journal}", "logs/*", "blobs/*"], {
    cwd: state,
  });
  if (found === undefined) return;
  throw new Problem(
    "exists",
    `${join(state, found)} already exists; nothing was restored`,
    `Restore into another directory with \`--project\`, or move ${state} away.`,
  );
}

function failed(file: string, error: unknown): Problem {
  const isReadable = error instanceof Problem || (error instanceof Error && "syscall" in error);
  const problem = isReadable ? "can't be restored" : "is not a whole backup";
  const hint = isReadable ? "Fix that, and restore again." : "Write one with `al backup`.";
  return failureOf("bad_backup", `${file} ${problem}`, error, hint);
}

/** A new folder on the store's disk that lists no credential. */
async function draftBeside(store: string): Promise<string> {
  await mkdir(store, { recursive: true, mode: 0o700 });
  return mkdtemp(join(store, ".restored-"));
}

async function unpack(file: string, { project, secrets }: Drafts): Promise<void> {
  const { extract } = await import("tar-stream");
  const archive = extract();
  const write = async (header: Headers, content: Readable): Promise<void> => {
    const { isSecret, path } = entryOf(header);
    const folder = isSecret ? secrets : join(project, ".al");
    if (folder === null) return void content.resume();
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await pipeline(content, createWriteStream(target, { flags: "wx", mode: 0o600 }));
  };
  archive.on("entry", (header, content, next) => {
    write(header, content).then(() => {
      next();
    }, next);
  });
  await pipeline(createReadStream(file), createGunzip(), archive);
  if (!existsSync(join(project, ".al", "state.db"))) throw new Error("it has no state.db");
}

/** Throws for an entry that no backup has, such as one that leads to another folder. */
function entryOf({ name, type }: Headers) {
  const secret = secretName.exec(name)?.[1];
  if (type === "file" && secret !== undefined) return { isSecret: true, path: secret };
  if (type === "file" && stateName.test(name)) return { isSecret: false, path: name };
  throw new Error(`it contains ${JSON.stringify(name)}, which no backup contains`);
}

/** Ends the runs of the backup, which may still live with the original; returns their number. */
async function recoverWork(projectDir: string): Promise<number> {
  const store = openStore(projectDir);
  try {
    return (await store.recover()).lost.length;
  } finally {
    store.close();
  }
}

/** Moves each instance of a credential into the store, unless the store has it. */
async function placeSecrets(draft: string | null, store: string) {
  const counts = { credentials: 0, kept: 0 };
  for (const instance of draft === null ? [] : globSync("*/*", { cwd: draft })) {
    await mkdir(dirname(join(store, instance)), { recursive: true, mode: 0o700 });
    const isPlaced = await rename(join(draft ?? "", instance), join(store, instance)).then(
      () => true,
      (error: unknown) => {
        if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
        return false;
      },
    );
    counts[isPlaced ? "credentials" : "kept"] += 1;
  }
  return counts;
}

/** The database comes last: without it the project counts as one without a database. */
async function placeState(from: string, state: string): Promise<void> {
  for (const name of ["logs", "blobs", "state.db-wal", "state.db"]) {
    if (existsSync(join(from, name))) await rename(join(from, name), join(state, name));
  }
}
