import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Ticket } from "../../../../src/runtime/wire/remote-protocol.ts";

const al = resolve("dist/src/cli/al.js");

/** Starts `al _remote-run` as the engine of a cluster does; `program` is what it starts for the run. */
export function startRemoteRun(
  ticket: Ticket,
  program: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const socketDir = mkdtempSync(join(tmpdir(), "al-remote-"));
  const file = join(socketDir, "ticket");
  writeFileSync(file, JSON.stringify(ticket));
  const args = ["_remote-run", "dev", "--project", socketDir, "--ticket", file];
  const child = spawn(
    process.execPath,
    [al, ...args, "--socket-dir", socketDir, "--", ...program],
    {
      cwd: socketDir,
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let err = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  return {
    child,
    socketDir,
    /** Its standard error so far. */
    err: () => err,
    /** Resolves to its exit code, or the signal that ended it. */
    ended,
    [Symbol.dispose]: () => {
      child.kill("SIGKILL");
      rmSync(socketDir, { recursive: true, force: true });
    },
  };
}

/** A shell script as the run's process; its first line of input is the job. */
export function shell(script: string): readonly string[] {
  return ["/bin/sh", "-c", `read -r job\n${script}`];
}
