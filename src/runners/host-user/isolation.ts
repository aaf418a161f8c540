import { execFile } from "node:child_process";
import type { Program } from "./supervisor-order.ts";

/** How the processes of a run are held together. */
export interface Isolation {
  /** The program, started so that all it starts ends with it. */
  readonly confine: (program: Program) => Program;
  /** Why there is no PID namespace; null when there is. */
  readonly unconfined: string | null;
}

const ownPids = ["--pid", "--fork", "--kill-child"];
const asOneself = ["--user", "--map-current-user"];

/** From the best to the least, as util-linux's unshare takes them; the first two need root. */
const variants: readonly (readonly string[])[] = [
  [...ownPids, "--mount-proc"],
  ownPids,
  [...asOneself, ...ownPids, "--mount-proc"],
  [...asOneself, ...ownPids],
];

/**
 * The first process of a namespace: it reaps what is orphaned, and with it ends all the rest. Its own words
 * (`Terminated`) are no output of the run.
 */
const init = 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?';

/** Finds out what the kernel allows this user. */
export async function findIsolation(env: NodeJS.ProcessEnv): Promise<Isolation> {
  let why = "";
  for (const flags of process.getuid?.() === 0 ? variants : variants.slice(2)) {
    const problem = await tryFlags(flags, env);
    if (problem === null)
      return { confine: (program) => confined(flags, program), unconfined: null };
    why = problem;
  }
  return { confine: (program) => program, unconfined: why };
}

function confined(flags: readonly string[], { file, args }: Program): Program {
  return {
    file: "unshare",
    args: [...flags, "--", "/bin/sh", "-c", init, "al-run", file, ...args],
  };
}

function tryFlags(flags: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    execFile("unshare", [...flags, "--", "true"], { env, timeout: 5000 }, (error, _out, stderr) => {
      if (error === null) return resolve(null);
      resolve(stderr.trim().split("\n").at(-1) || error.message.split("\n")[0] || "unshare failed");
    });
  });
}
