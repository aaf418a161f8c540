import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { RunPlace } from "../../contracts/run-place.ts";
import type { Program } from "./supervisor-order.ts";

/** Starts the process of a run in a session of its own. */
export function startProcess({ file, args }: Program, place: RunPlace): ChildProcess {
  return spawn(file, args, { ...place, detached: true, stdio: ["pipe", "pipe", "pipe"] });
}

/** What sudo sets for the user it changes to. */
export function ownVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", USER, LOGNAME = USER } = env;
  return { PATH, ...(USER === undefined ? {} : { USER }), ...(LOGNAME && { LOGNAME }) };
}
