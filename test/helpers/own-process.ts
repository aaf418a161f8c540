import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Starts a process that ends with this one at the latest, and whose output goes to `<dir>/<name>.log`. */
export function startProcess(name: string, dir: string, command: readonly string[]) {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${name}.log`);
  const log = openSync(file, "a");
  // The signal of setpriv goes with every exec, and so to a process that ends its namespace.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", ...command], {
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  let isKilled = false;
  const exited = once(child, "exit");
  const ended = exited.then((): Promise<never> => {
    if (isKilled) return new Promise(() => undefined);
    throw new Error(`${name} ended:\n${readFileSync(file, "utf8").slice(-2_000)}`);
  });
  ended.catch(() => undefined);
  return {
    /** Rejects when it ends although nobody killed it. */
    ended,
    kill: async () => {
      isKilled = true;
      child.kill("SIGKILL");
      await exited;
    },
  };
}

export type OwnProcess = ReturnType<typeof startProcess>;

/** A command in a network namespace, with processes, mounts and a name of its own, as another machine has them. */
export function asMachine(networkNamespace: string, ...command: readonly string[]) {
  const own = ["--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];
  return ["nsenter", `--net=/run/netns/${networkNamespace}`, "unshare", ...own, ...command];
}
