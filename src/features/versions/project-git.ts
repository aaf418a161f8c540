import { execFile } from "node:child_process";
import type { GitState } from "../../foundation/store/runs.ts";

export interface ProjectGitOptions {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds that only grow. */
  readonly elapsed?: () => number;
}

/** How long a state is valid, as a commit changes no watched file. */
const maxAgeMs = 5_000;
const timeoutMs = 20_000;
/** Limit of git's output: one change is enough. */
const maxOutputBytes = 64 * 1024;

/** Reads the state on demand, once for concurrent callers. */
export function createProjectGit(options: ProjectGitOptions) {
  const { elapsed = () => performance.now() } = options;
  let reading: Promise<GitState | null> | null = null;
  let known: { readonly state: GitState | null; readonly until: number } | null = null;

  const read = async (): Promise<GitState | null> => {
    const state = await readGit(options);
    known = { state, until: elapsed() + maxAgeMs };
    reading = null;
    return state;
  };
  return {
    /**
     * The current state, at most a few seconds old: a value if it is known, else a promise that never rejects. Null
     * without a repository, a commit or git.
     */
    state: (): GitState | null | Promise<GitState | null> => {
      if (known !== null && elapsed() < known.until) return known.state;
      return (reading ??= read());
    },
    /** Files changed: the next state is read anew. */
    invalidate: () => {
      known = null;
    },
  };
}

/** The state of the repository that a project is in. */
export type ProjectGit = ReturnType<typeof createProjectGit>;

/** Everything in one call, and nothing written: no lock of the index, no hook. The scheduler's own files don't count. */
const args = [
  "--no-optional-locks",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "status",
  "--porcelain=v2",
  "--branch",
  "--untracked-files=normal",
  "--",
  ".",
  ":(exclude).al",
];

function readGit({ projectDir: cwd, env }: ProjectGitOptions): Promise<GitState | null> {
  const options = { cwd, env: gitEnv(env), timeout: timeoutMs, maxBuffer: maxOutputBytes };
  return new Promise((resolve) => {
    execFile("git", args, options, (error, stdout) => {
      const isCut = error !== null && "code" in error && error.code === tooMuchOutput;
      resolve(error === null || isCut ? parseStatus(stdout) : null);
    });
  });
}

const tooMuchOutput = "ERR_CHILD_PROCESS_STDIO_MAXBUFFER";

/** Reads `# branch.oid <commit>` and whether a line follows that is not a header. */
function parseStatus(output: string): GitState | null {
  const commit = /^# branch\.oid ([0-9a-f]{40,64})$/m.exec(output)?.[1];
  if (commit === undefined) return null;
  return { commit, dirty: /^[^#\n]/m.test(output) };
}

/** The environment without variables that point git to another repository, such as those of a hook. */
function gitEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith("GIT_") || name.startsWith("GIT_CONFIG_"),
  );
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
}
