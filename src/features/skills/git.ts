import { execa } from "execa";
import { Problem } from "../../foundation/errors.ts";

export interface GitOptions {
  /** The bare repository that it works on. */
  readonly gitDir: string;
  /** The person's environment: proxies, ssh agent and git's own settings are used. */
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  /** Bytes of the biggest file that git may write. */
  readonly maxFileBytes: number;
  /** Aborts git when the person cancels. */
  readonly signal: AbortSignal;
}

/** Limit of git's output, in bytes. */
const maxOutputBytes = 64 * 1024 * 1024;
/** The unit of ulimit. */
const blockBytes = 512;

/**
 * Nothing of a fetched repository is ever checked out, so its hooks, filters, symbolic links and submodules do
 * nothing. These settings keep the person's own from starting something on its behalf.
 */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "gc.auto=0",
  "maintenance.auto=false",
  "fetch.recurseSubmodules=false",
  // Fetches one pack, whose size is limited, without holding big files in memory.
  "fetch.unpackLimit=1",
  "core.bigFileThreshold=1m",
].flatMap((setting) => ["-c", setting]);

/** git's output, as bytes, and whether it succeeded. */
export interface GitEnd {
  readonly ok: boolean;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs the system's git without a prompt. Throws a Problem if git is missing. */
export async function runGit(
  args: readonly string[],
  { gitDir, env, timeoutMs, maxFileBytes, signal }: GitOptions,
  input: string | Uint8Array = "",
): Promise<GitEnd> {
  // Without the signal git itself reports that a file got too large.
  const limited = `trap "" XFSZ; ulimit -f ${Math.ceil(maxFileBytes / blockBytes)} && exec git "$@"`;
  const command = ["--git-dir", gitDir, ...settings, ...args];
  const ended = await execa("/bin/sh", ["-c", limited, "sh", ...command], {
    env: gitEnvironment(env),
    extendEnv: false,
    cwd: gitDir,
    input,
    encoding: "buffer",
    stripFinalNewline: false,
    timeout: timeoutMs,
    cancelSignal: signal,
    forceKillAfterDelay: 2000,
    // ssh and its children hold git's output open.
    killDescendants: true,
    maxBuffer: maxOutputBytes,
    reject: false,
  });
  if (ended.isCanceled) {
    throw new Problem("interrupted", "interrupted; nothing was changed", { exitCode: 130 });
  }
  if (ended.timedOut) {
    throw new Problem(
      "git_timeout",
      `git did not finish within ${timeoutMs / 1000} s`,
      "try again later, or clone the repository yourself and add the directory",
    );
  }
  if (ended.isMaxBuffer) {
    const message = `the repository lists or contains more than ${maxOutputBytes / 1024 ** 2} MiB`;
    throw new Problem(
      "too_large",
      message,
      "a skill is a few files; the repository may be malicious",
    );
  }
  const stderr = Buffer.from(ended.stderr).toString("utf8");
  if (ended.exitCode === 127) {
    throw new Problem("no_git", "git is not installed", "install git");
  }
  return { ok: ended.exitCode === 0, stdout: Buffer.from(ended.stdout), stderr };
}

/** Variables for git's connections; others would point git to another repository. */
const kept = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|PROXY_.*|HTTP_.*|CONFIG_.*)$/;

function gitEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(env).filter(
    (pair): pair is [string, string] =>
      pair[1] !== undefined &&
      pair[0] !== "SSH_ASKPASS" &&
      (!pair[0].startsWith("GIT_") || kept.test(pair[0])),
  );
  return {
    // Without a terminal ssh fails instead of asking for a host's key or a password.
    ...(env.GIT_SSH === undefined && env.GIT_SSH_COMMAND === undefined
      ? { GIT_SSH_COMMAND: "ssh -o BatchMode=yes" }
      : {}),
    ...Object.fromEntries(own),
    GIT_ALLOW_PROTOCOL: "https:ssh:file",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C",
  };
}

/** A file of a commit. */
export interface TreeEntry {
  /** The path from the repository's top, unchecked: not to be trusted. */
  readonly path: string;
  readonly kind: "file" | "executable" | "link" | "submodule";
  /** The hash of its content, in hex. */
  readonly id: string;
  /** In bytes; 0 for a submodule. */
  readonly size: number;
}

const kinds: Readonly<Record<string, TreeEntry["kind"]>> = {
  "100644": "file",
  "100664": "file",
  "100755": "executable",
  "120000": "link",
  "160000": "submodule",
};

/** Parses the output of `git ls-tree -r -l -z`. */
export function parseTree(output: Buffer): TreeEntry[] {
  const lines = output
    .toString("utf8")
    .split("\0")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [, mode = "", id = "", size = "", path = ""] =
      /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t([^]+)$/.exec(line) ?? [];
    const kind = kinds[mode];
    if (kind === undefined) throw damaged(`a file of the mode ${mode}`);
    return { path, kind, id, size: size === "-" ? 0 : Number(size) };
  });
}

/** Parses the output of `git cat-file --batch` for that many files: `<id> blob <size>`, the bytes, a line break. */
export function parseBlobs(output: Buffer, count: number): Buffer[] {
  const blobs: Buffer[] = [];
  let at = 0;
  while (blobs.length < count) {
    const end = output.indexOf(10, at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(output.toString("utf8", at, end)) ?? [];
    if (size === undefined) throw damaged("a missing file");
    const start = end + 1;
    blobs.push(output.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return blobs;
}

function damaged(part: string): Problem {
  return new Problem(
    "git_failed",
    `the repository has ${part}`,
    "git fsck in a clone may show more",
  );
}
