import { existsSync } from "node:fs";
import { mkdtemp, rm, lstat, readdir, readFile, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "../../foundation/errors.ts";
import { gitReason, runGit, type GitOptions } from "../../foundation/files/run-git.ts";
import { parseBlobs, parseTree, type TreeEntry } from "./git.ts";
import { fileURLToPath } from "node:url";

/** Reads and writes git's objects. */
interface RepositoryObjects {
  /** All files of a commit. */
  files(commit: string): Promise<readonly TreeEntry[]>;
  /** The contents of files, in their order. */
  contents(entries: readonly TreeEntry[]): Promise<readonly Buffer[]>;
  /** Stores content from outside the repository and returns its id. */
  store(content: Uint8Array): Promise<string>;
  /** The lines of a unified diff between two contents by their ids, from the first `@@` on. */
  diff(before: string, after: string): Promise<string>;
}

/** A repository's newest commit, as git's objects in a folder of its own: no file of it is on disk by its name. */
export interface FetchedRepository extends RepositoryObjects {
  /** The commit, in hex. */
  readonly head: string;
  /** Gets another commit; false when the repository doesn't give it. */
  fetchCommit(commit: string): Promise<boolean>;
  /** Commits the files of a directory outside of the repository. Returns the commit; null if the directory is missing. */
  commitDirectory(dir: string): Promise<string | null>;
  remove(): Promise<void>;
}

export interface FetchOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Aborts the fetch. */
  readonly signal?: AbortSignal;
  /** Timeout of one fetch. */
  readonly timeoutMs?: number;
  /** Maximum size of the whole repository as it is sent. */
  readonly maxBytes?: number;
}

const hints = {
  slow: "try again later, or clone the repository yourself and add the directory",
  large: "a skill is a few files; the repository may be malicious",
};
const usualTimeoutMs = 120_000;
const usualMaxBytes = 256 * 1024 * 1024;

/**
 * Fetches the newest commit, and nothing else, from a URL of `parseSkillSource`; of a directory outside of a repository,
 * a commit of its files. The caller removes it. Throws a Problem when it can't be had.
 */
export async function fetchRepository(
  url: string,
  {
    env,
    timeoutMs = usualTimeoutMs,
    maxBytes = usualMaxBytes,
    signal = new AbortController().signal,
  }: FetchOptions,
): Promise<FetchedRepository> {
  const gitDir = await mkdtemp(join(tmpdir(), "al-skill-"));
  const options: GitOptions = { gitDir, env, timeoutMs, maxFileBytes: maxBytes, signal, hints };
  const remove = () => rm(gitDir, { recursive: true, force: true });
  try {
    await must(["init", "--quiet", "--bare", "--template="], options);
    const dir = await plainDirectory(url);
    const fetched = dir === null ? await fetchRef(url, "HEAD", options) : null;
    if (fetched !== null) throw unreachable(url, fetched, maxBytes);
    const head =
      dir === null
        ? await commitOf("FETCH_HEAD", options)
        : await commitDirectory(dir, "refs/heads/directory", options);
    return {
      ...reader(options),
      head,
      remove,
      fetchCommit: (commit) => fetchCommit(url, commit, options),
      commitDirectory: async (other) =>
        existsSync(other) ? commitDirectory(other, "refs/heads/other", options) : null,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function reader(options: GitOptions): RepositoryObjects {
  return {
    files: async (commit) =>
      parseTree(await must(["ls-tree", "-r", "-l", "-z", "--full-tree", commit], options)),
    contents: async (entries) => {
      const ids = entries.map(({ id }) => `${id}\n`).join("");
      return parseBlobs(await must(["cat-file", "--batch"], options, ids), entries.length);
    },
    store: async (content) =>
      (await must(["hash-object", "-w", "--stdin"], options, content)).toString().trim(),
    diff: async (before, after) => {
      const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--unified=3"];
      const text = (await must(["diff", ...plain, before, after], options)).toString("utf8");
      const start = text.indexOf("\n@@");
      return start < 0 ? "" : text.slice(start + 1).trimEnd();
    },
  };
}

/** Limit of a directory, which is passed to git in one piece. */
const maxDirectoryBytes = 64 * 1024 * 1024;

async function commitDirectory(dir: string, ref: string, options: GitOptions): Promise<string> {
  const maxBytes = Math.min(options.maxFileBytes, maxDirectoryBytes);
  await must(["fast-import", "--quiet"], options, await directoryCommit(dir, ref, maxBytes));
  return commitOf(ref, options);
}

async function commitOf(ref: string, options: GitOptions): Promise<string> {
  return (await must(["rev-parse", "--verify", `${ref}^{commit}`], options)).toString().trim();
}

/** Fetches a ref; returns git's error, null on success. */
async function fetchRef(url: string, ref: string, options: GitOptions): Promise<string | null> {
  const quiet = [
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
  ];
  const { ok, stderr } = await runGit(["fetch", ...quiet, "--", url, ref], options);
  return ok ? null : stderr;
}

async function fetchCommit(url: string, commit: string, options: GitOptions): Promise<boolean> {
  if (!/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(commit)) return false;
  return (await fetchRef(url, commit, options)) === null;
}

async function must(
  args: readonly string[],
  options: GitOptions,
  input?: string | Uint8Array,
): Promise<Buffer> {
  const { ok, stdout, stderr } = await runGit(args, options, input);
  if (ok) return stdout;
  throw new Problem(
    "git_failed",
    `git ${args[0] ?? ""}: ${gitReason(stderr)}`,
    "the repository may be damaged or malicious",
  );
}

function unreachable(url: string, stderr: string, maxBytes: number): Problem {
  if (/File too large/.test(stderr)) {
    return new Problem(
      "too_large",
      `${url} is larger than ${maxBytes / 1024 ** 2} MiB`,
      "a skill is a few files; ask its author for a separate repository",
    );
  }
  if (/remote ref HEAD/.test(stderr)) {
    return new Problem("no_skill", `${url} has no commit yet`, "commit a SKILL.md there");
  }
  return new Problem(
    "git_failed",
    `${url} can't be fetched: ${gitReason(stderr)}`,
    "does git ls-remote with this address work? For a private repository set up ssh or a credential helper",
  );
}

const hereHint = "name one with a SKILL.md, or a repository: al add acme/skills";

/** The directory that a URL names; null if it is a repository of git. Throws a Problem if it is missing. */
async function plainDirectory(url: string): Promise<string | null> {
  if (!url.startsWith("file:")) return null;
  const path = fileURLToPath(url);
  const isThere = (name: string) => existsSync(join(path, name));
  const stats = await lstat(path).catch(() => null);
  if (stats === null) throw new Problem("no_skill", `there is no directory ${path}`, hereHint);
  if (!stats.isDirectory()) return null;
  const isRepository = isThere(".git") || (isThere("HEAD") && isThere("objects"));
  return isRepository ? null : path;
}

const limits = { files: 5000, depth: 10 };
const ignored = [".git", "node_modules"];

/**
 * Input of `git fast-import` that commits a directory's files to `ref`. The same files make the same commit. Throws a
 * Problem when there are too many or they are larger than `maxBytes` together.
 */
async function directoryCommit(dir: string, ref: string, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [Buffer.from(`commit ${ref}\ncommitter al <al> 0 +0000\ndata 0\n`)];
  let [files, bytes] = [0, 0];
  const add = (path: string, mode: string, content: Buffer): void => {
    files += 1;
    bytes += content.byteLength;
    if (files > limits.files || bytes > maxBytes) throw tooLarge(dir, maxBytes);
    const head = `M ${mode} inline ${quoted(path)}\ndata ${content.byteLength}\n`;
    parts.push(Buffer.from(head), content, Buffer.from("\n"));
  };
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(dir, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const from = join(dir, path);
      if (ignored.includes(entry.name)) continue;
      if (entry.isDirectory()) await walkDeeper(path, depth);
      else if (entry.isSymbolicLink()) add(path, "120000", Buffer.from(await readlink(from)));
      else if (entry.isFile()) {
        const { size, mode } = await lstat(from);
        if (bytes + size > maxBytes) throw tooLarge(dir, maxBytes);
        add(path, (mode & 0o100) === 0 ? "100644" : "100755", await readFile(from));
      }
    }
  };
  const walkDeeper = async (path: string, depth: number): Promise<void> => {
    if (depth < limits.depth) await walk(path, depth + 1);
  };
  await walk("", 1);
  return Buffer.concat(parts);
}

/** Quotes any path for fast-import. */
function quoted(path: string): string {
  const escaped = path.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${escaped}"`;
}

function tooLarge(dir: string, maxBytes: number): Problem {
  const message = `${dir} has more than ${limits.files} files or ${maxBytes / 1024 ** 2} MiB`;
  return new Problem("too_large", message, "a skill is a few files; name its own directory");
}
