import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHostUserRunner } from "../../../../src/runtime/runners/host-user/host-user-runner.ts";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import { createRedactor } from "../../../../src/foundation/credentials/redactor.ts";
import type { Program } from "../../../../src/runtime/wire/supervisor-order.ts";
import { contractGraceMs, jobOf, processesOf, scriptOf } from "../shell-runs.ts";

const supervisorEntry = fileURLToPath(new URL("supervisor-entry.ts", import.meta.url));

/** The scheduler's project in these tests; nobody looks into it, but its name has to get through sudo. */
export const projectDir = `/some/[x] project/*,a=b:c#"q"?!`;

/** The supervisor of a run, from source, with the arguments of the real one. */
export function supervisorProgram(agent: string): Program {
  const args = [supervisorEntry, "_run-agent", agent, "--project", projectDir];
  return { file: process.execPath, args };
}

/** A runner whose runs are shell scripts. */
export function aRunner(
  baseDir: string,
  options: Partial<HostUserOptions> = {},
): ReturnType<typeof createHostUserRunner> {
  return createHostUserRunner({
    prepare: (request, workDir) => Promise.resolve(jobOf(request, workDir)),
    runAgent: supervisorProgram,
    program: (request) => shellProgram(request.agent.title, baseDir),
    projectDir,
    baseDir,
    env: process.env,
    network: () => "open",
    compileCache: null,
    graceMs: contractGraceMs,
    onCooldown: () => undefined,
    redactorFor: () => createRedactor().redact,
    ...options,
  });
}

/** The script that an agent's title is, or stands for. */
function shellProgram(title: string, baseDir: string): Program {
  if (title === "cannot-start") return { file: join(baseDir, "no-such-program"), args: [] };
  return { file: "/bin/sh", args: ["-c", scriptOf(title)] };
}

/** The remains of a run; its log may stay. */
export async function leftovers(baseDir: string, instanceId: string): Promise<readonly string[]> {
  const dir = join(baseDir, instanceId);
  return [...(await processesOf(instanceId)), ...(existsSync(dir) ? [dir] : [])];
}
