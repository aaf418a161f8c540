import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killRun } from "../../../src/runtime/runners/marked-processes.ts";
import { builtAl } from "../scheduler.ts";
import type { PodEnd, PodProgram, PodStart } from "./pod-program.ts";

/**
 * A pod as real `al _remote-run` of this machine, with its ticket in a file as its secret has it. Another command of the
 * pod is the run's own process. Its processes go with it, as those of a container do.
 */
export function startProcessPod({ command, env, files, write }: PodStart): PodProgram {
  const dir = mkdtempSync(join(tmpdir(), "al-pod-"));
  const ticket = join(dir, "al-run");
  writeFileSync(ticket, files["/run/secrets/al-run"] ?? "", { mode: 0o400 });
  const [, name, agent = ""] = command;
  const [ofAgent, program] = name === "_remote-run" ? [agent, []] : ["dev", ["--", ...command]];
  const own = ["_remote-run", ofAgent, "--project", dir, "--ticket", ticket, "--socket-dir", dir];
  const child = spawn(process.execPath, [builtAl, ...own, ...program], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", write);
  const { promise: ended, resolve: end } = Promise.withResolvers<PodEnd>();
  const instanceId = env.AL_INSTANCE ?? "";
  child.once("close", (code) => {
    void killRun(instanceId).then(() => {
      rmSync(dir, { recursive: true, force: true });
      end({ exitCode: code ?? 137 });
    });
  });
  return {
    ended,
    terminate: () => void child.kill("SIGTERM"),
    kill: () => {
      child.kill("SIGKILL");
      void killRun(instanceId);
    },
  };
}
