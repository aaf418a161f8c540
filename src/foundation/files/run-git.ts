import { Problem } from "../errors.ts";

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
  /** The transports that it may use, separated by colons. */
  readonly protocols?: string;
  /** Settings in addition to the usual ones. */
  readonly settings?: readonly string[];
  /** Hints for a person when git takes too long, and when the repository is too large. */
  readonly hints?: { readonly slow: string; readonly large: string };
}

/** Limit of git's output, in bytes. */
const maxOutputBytes = 64 * 1024 * 1024;
/** The unit of ulimit. */
const blockBytes = 512;

/**
 * Nothing of a fetched repository is ever checked out, so its hooks, filters, symbolic links and submodules do
 * nothing. These settings keep the person's own from starting something on its behalf.
 */
const usualSettings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "gc.auto=0",
  "maintenance.auto=false",
  "fetch.recurseSubmodules=false",
  // Fetches one pack, whose size is limited, without holding big files in memory.
  "fetch.unpackLimit=1",
  "core.bigFileThreshold=1m",
];

const usualHints = { slow: "try again later", large: "the repository may be malicious" };

/** git's output, as bytes, and whether it succeeded. */
export interface GitEnd {
  readonly ok: boolean;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs the system's git without a prompt. Throws a Problem if git is missing. */
export async function runGit(
  args: readonly string[],
  options: GitOptions,
  input: string | Uint8Array = "",
): Promise<GitEnd> {
  const { gitDir, env, timeoutMs, maxFileBytes, signal, hints = usualHints } = options;
  const { protocols = "https:ssh:file", settings = [] } = options;
  // Without the signal git itself reports that a file got too large.
  const limited = `trap "" XFSZ; ulimit -f ${Math.ceil(maxFileBytes / blockBytes)} && exec git "$@"`;
  const command = ["--git-dir", gitDir, ...configured([...usualSettings, ...settings]), ...args];
  const { execa } = await import("execa");
  const ended = await execa("/bin/sh", ["-c", limited, "sh", ...command], {
    env: gitEnvironment(env, protocols),
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
    throw new Problem("git_timeout", `git did not finish within ${timeoutMs / 1000} s`, hints.slow);
  }
  if (ended.isMaxBuffer) {
    const message = `the repository lists or contains more than ${maxOutputBytes / 1024 ** 2} MiB`;
    throw new Problem("too_large", message, hints.large);
  }
  const stderr = Buffer.from(ended.stderr).toString("utf8");
  if (ended.exitCode === 127) {
    throw new Problem("no_git", "git is not installed", "install git");
  }
  return { ok: ended.exitCode === 0, stdout: Buffer.from(ended.stdout), stderr };
}

function configured(settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ["-c", setting]);
}

/** Variables for git's connections; others would point git to another repository. */
const kept = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|PROXY_.*|HTTP_.*|CONFIG_.*)$/;

function gitEnvironment(env: NodeJS.ProcessEnv, protocols: string): Record<string, string> {
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
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C",
  };
}

/** Why git failed, from its output: the last line is often advice, and its errors are more exact. */
export function gitReason(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((each) => /^(fatal|error|remote): /i.test(each)) ?? lines.at(-1);
  return line?.replace(/^(fatal|error): /, "") ?? "no reason was given";
}
