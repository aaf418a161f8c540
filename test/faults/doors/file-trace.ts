import { execFileSync, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDir } from "../../helpers/temp-dir.ts";
import { pause } from "../../helpers/pause.ts";

/** Why no process can be traced here; null when one can. */
export function whyNoTrace(): string | null {
  try {
    execFileSync("strace", ["-f", "-o", "/dev/null", "true"], { stdio: "ignore" });
    return null;
  } catch {
    return "there is no strace that may trace";
  }
}

/** Follows the file system calls of a process and its threads; the kernel's own word for what is touched. */
export async function traceFiles(pid: number) {
  const folder = tempDir();
  const output = join(folder, "calls");
  const strace = spawn(
    "strace",
    ["-f", "-qq", "-s", "4096", "-e", "trace=%file", "-o", output, "-p", String(pid)],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise((resolve) => strace.once("close", resolve));
  // It says nothing once it is attached; /proc does.
  await attached(pid);
  return {
    /** Paths that it opened, made, changed or looked for, each once. */
    stop: async (): Promise<readonly string[]> => {
      strace.kill("SIGINT");
      await ended;
      const calls = await readFile(output, "utf8");
      const paths = [...calls.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, path = ""]) => path);
      return [...new Set(paths)];
    },
  };
}

async function attached(pid: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!/^TracerPid:\t[1-9]/m.test(await readFile(`/proc/${pid}/status`, "utf8"))) {
    if (performance.now() > deadline) throw new Error("strace did not attach");
    await pause(50, "it is asked again");
  }
}
