import { homedir } from "node:os";
import { join, resolve, dirname, sep } from "node:path";
import { randomBytes } from "node:crypto";
import { mkdir, open, rm, realpath, stat } from "node:fs/promises";
import { constants, type Stats } from "node:fs";
import { shellWord } from "../contracts/shell-word.ts";
import { isMissing, Problem, failureOf } from "../errors.ts";

const maxBytes = 64 * 1024;

/**
 * Reads one secret of the store at `store`, without trailing line ends; null if the file is missing. Throws a Problem
 * if another user could read it, or it isn't a small file in the store. Errors name files, never their content.
 */
export async function readSecret(path: string, store: string): Promise<string | null> {
  try {
    return await readPrivate(await insideStore(path, store), path);
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (isMissing(error)) return null;
    throw unreadable(path, error);
  }
}

/** Throws a Problem if the directory exists and is not private to its owner. */
export async function checkPrivateDir(path: string): Promise<void> {
  try {
    checkMode(path, await stat(path), "700");
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (!isMissing(error)) throw unreadable(path, error);
  }
}

async function insideStore(path: string, store: string): Promise<string> {
  const real = await realpath(path);
  if (real.startsWith((await realpath(store)) + sep)) return real;
  throw new Problem(
    "unsafe_credential",
    `${path} is a link that leads out of ${store}`,
    "put a copy of the file in its place",
  );
}

async function readPrivate(real: string, path: string): Promise<string> {
  // Without O_NONBLOCK a FIFO would wait for its writer forever.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) {
    throw new Problem("unsafe_credential", `${path} is not a regular file`);
  }
  checkMode(path, stats, "600");
  if (stats.size > maxBytes) {
    throw new Problem(
      "unsafe_credential",
      `${path} has ${stats.size} bytes; a secret has at most ${maxBytes}`,
    );
  }
  return (await file.readFile("utf8")).replace(/(?<![\r\n])[\r\n]+$/, "");
}

function checkMode(path: string, { mode }: Stats, wanted: "600" | "700"): void {
  if ((mode & 0o077) === 0) return;
  const found = (mode & 0o777).toString(8);
  throw new Problem(
    "unsafe_credential",
    `${path} is open to other users (mode ${found})`,
    `chmod ${wanted} ${shellWord(path)}`,
  );
}

function unreadable(path: string, cause: unknown): Problem {
  return failureOf("unsafe_credential", `${path} can't be read`, cause);
}

/**
 * Writes a secret to a draft (mode 600) beside `path`, creates its directories (mode 700), and calls `put` to move it in
 * place: no reader sees half of it. The draft is hidden, so that it is not a field.
 */
export async function placeSecret<T>(
  path: string,
  secret: string,
  put: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = join(dirname(path), `.draft-${randomBytes(6).toString("hex")}`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await write(draft, secret);
    return await put(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

async function write(path: string, secret: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(`${secret}\n`);
  await file.sync();
}

/** The directory of files that belong to the user and not to a project: `AL_HOME`, else `~/.almanac`. Absolute. */
export function homeDir(env: Readonly<Record<string, string | undefined>>): string {
  return env.AL_HOME ? resolve(env.AL_HOME) : join(homedir(), ".almanac");
}

/** Where the store keeps one file a field: `<home>/credentials/<type>/<instance>/<field>`. */
export function storeDir(home: string): string {
  return join(home, "credentials");
}
