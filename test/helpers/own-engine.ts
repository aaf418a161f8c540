import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { promisify } from "node:util";
import { connectEngine } from "../../src/runtime/runners/container/engine.ts";
import { answers } from "./docker.ts";

/** Whether a test can start an engine of its own, as the machine's may be in use. */
export const hasOwnEngine = process.getuid?.() === 0 && existsSync("/usr/sbin/dockerd");

/** An engine of this folder, that can be stopped and started again. Its containers have no network. */
export function ownEngine(folder: string) {
  const host = `unix://${folder}/docker.sock`;
  const engine = connectEngine({ env: { DOCKER_HOST: host } });
  let daemon: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (daemon === undefined || daemon.exitCode !== null) return;
    const ended = once(daemon, "exit");
    daemon.kill("SIGTERM");
    await ended;
  };
  return {
    engine,
    host,
    /** Resolves once it answers. */
    start: async (...flags: readonly string[]): Promise<void> => {
      const own = [
        `--host=${host}`,
        `--data-root=${folder}/data`,
        `--exec-root=${folder}/exec`,
        `--pidfile=${folder}/pid`,
      ];
      // In a network of its own, or it would take the bridge of the machine's engine away.
      const args = ["--net", "/usr/sbin/dockerd", ...own, "--bridge=none", "--iptables=false"];
      daemon = spawn("/usr/bin/unshare", [...args, ...flags], { stdio: "ignore" });
      await answers(engine, 30_000);
    },
    stop,
    /** Stops it for good: its folder can be removed. */
    remove: async (): Promise<void> => {
      await stop();
      const mounts = (await readFile("/proc/mounts", "utf8")).split("\n");
      const places = mounts.map((line) => line.split(" ")[1] ?? "");
      const own = places.filter((at) => at.startsWith(folder));
      for (const place of own.sort().reverse()) await promisify(execFile)("umount", [place]);
    },
  };
}
