import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Headers } from "tar-stream";
import { homeDir, storeDir } from "../../../foundation/credentials/read-secret.ts";
import { messageOf, UserError } from "../../../foundation/errors.ts";
import { lockProject } from "../../../foundation/store/project-lock.ts";
import { ensureStateDir } from "../../../foundation/store/state-dir.ts";
import { openStore } from "../../../foundation/store/store.ts";
import { packageVersion } from "../../../foundation/version.ts";
import type { Context } from "../context.ts";

const word = "[\\w-][\\w.@-]*";
const stateName = new RegExp(`^(state\\.db|logs/${word}\\.log)$`);
const secretName = new RegExp(`^credentials/(${word}/${word}/${word})$`);

/**
 * Restores the database and the logs of a backup into a project that has none, and on request the credentials that are
 * missing. Runs that were under way in it are lost: their work is tried once more by the next start.
 */
export async function restoreBackup(
  { projectDir, env, out }: Context,
  given: string,
  { credentials = false }: { readonly credentials?: boolean },
): Promise<void> {
  const state = ensureStateDir(projectDir);
  if (existsSync(join(state, "state.db"))) {
    throw new UserError(
      "exists",
      `${join(state, "state.db")} is there already; nothing was restored`,
      {
        hint: `restore into another directory with --project, or move ${state} away`,
      },
    );
  }
  const unlocked = { socketPath: null, gatewayUrl: null, version: packageVersion() };
  const startedAt = new Date().toISOString();
  const lock = lockProject(projectDir, { pid: process.pid, startedAt, ...unlocked });
  const draft = join(state, "restored");
  try {
    rmSync(draft, { recursive: true, force: true });
    const secrets = credentials ? storeDir(homeDir(env)) : null;
    const stored = await unpack(resolve(given), draft, secrets);
    if (existsSync(join(draft, "logs"))) await rename(join(draft, "logs"), join(state, "logs"));
    await rename(join(draft, "state.db"), join(state, "state.db"));
    const lost = await recoverWork(projectDir);
    out.answer({ projectDir, ...stored, lost }, `${projectDir} is restored`);
    if (lost > 0) out.note(`runs that were under way: ${lost}; their work is tried once more`);
    if (stored.kept > 0) out.note(`credentials that were there already and stay: ${stored.kept}`);
  } catch (error) {
    throw error instanceof UserError ? error : unreadable(given, error);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    lock.release();
  }
}

function unreadable(file: string, error: unknown): UserError {
  const message = `${file} is not a whole backup: ${messageOf(error)}`;
  return new UserError("bad_backup", message, { hint: "al backup writes one", cause: error });
}

/** Writes the entries below `draft`, and those of credentials that are missing below `secrets`. */
async function unpack(file: string, draft: string, secrets: string | null) {
  const { extract } = await import("tar-stream");
  const archive = extract();
  const counts = { credentials: 0, kept: 0 };
  const write = async (header: Headers, content: Readable): Promise<void> => {
    const { isSecret, path } = entryOf(header);
    const folder = isSecret ? secrets : draft;
    const target = join(folder ?? "", path);
    const isKept = isSecret && folder !== null && existsSync(target);
    if (isKept) counts.kept += 1;
    if (folder === null || isKept) return void content.resume();
    if (isSecret) counts.credentials += 1;
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    await pipeline(content, createWriteStream(target, { flags: "wx", mode: 0o600 }));
  };
  archive.on("entry", (header, content, next) => {
    write(header, content).then(() => {
      next();
    }, next);
  });
  await pipeline(createReadStream(file), createGunzip(), archive);
  if (!existsSync(join(draft, "state.db"))) throw new Error("it has no state.db");
  return counts;
}

/** Throws for an entry that no backup has, such as one that leads to another folder. */
function entryOf({ name, type }: Headers) {
  const secret = secretName.exec(name)?.[1];
  if (type === "file" && secret !== undefined) return { isSecret: true, path: secret };
  if (type === "file" && stateName.test(name)) return { isSecret: false, path: name };
  throw new Error(`it has ${JSON.stringify(name)}, which no backup has`);
}

/** Ends the runs of the backup, which may still live with the original; the number of them. */
async function recoverWork(projectDir: string): Promise<number> {
  const store = openStore(projectDir);
  try {
    return (await store.recover()).lost.length;
  } finally {
    store.close();
  }
}
