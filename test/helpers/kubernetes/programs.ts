import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { programsDir } from "../../kubernetes/build-cluster.ts";

/** Why no cluster can be started here; null if one can. */
export const missingProgram: string | null =
  process.getuid?.() !== 0
    ? "needs root"
    : (["kubelet", "kube-router", "pause"]
        .map(program)
        .concat("/usr/bin/etcd", "/usr/bin/containerd", "/usr/lib/cni/ptp", "/usr/sbin/ipset")
        .find((file) => !existsSync(file)) ?? null);

/** Path of a program of Kubernetes. */
export function program(name: string): string {
  return join(programsDir, name);
}

export interface OwnProcess {
  readonly pid: number;
  /** Rejects when it ends although nobody killed it. */
  readonly ended: Promise<never>;
  kill(): Promise<void>;
}

/** Starts a process that ends with this one at the latest, and whose output goes to `<dir>/<name>.log`. */
export function startProcess(
  name: string,
  dir: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): OwnProcess {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, `${name}.log`);
  const log = openSync(file, "a");
  const child = spawn("setpriv", ["--pdeathsig", "KILL", ...command], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...process.env, ...env },
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
    pid: child.pid ?? 0,
    ended,
    kill: async () => {
      isKilled = true;
      child.kill("SIGKILL");
      await exited;
    },
  };
}
