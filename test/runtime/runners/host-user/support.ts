import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHostUserRunner } from "../../../../src/runtime/runners/host-user/host-user-runner.ts";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import { createRedactor } from "../../../../src/foundation/credentials/redactor.ts";
import type { Program } from "../../../../src/runtime/runners/host-user/supervisor-order.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { contractGraceMs } from "../scenarios.ts";
import { anAgent, anItem } from "../../../helpers/agents.ts";
import { jobOf, processesOf, scriptOf } from "../shell-runs.ts";

const supervisorEntry = fileURLToPath(new URL("supervisor-entry.ts", import.meta.url));

/** The scheduler's project in these tests; nobody looks into it, but its name has to get through sudo. */
export const projectDir = `/some/[x] project/*,a=b:c#"q"?!`;

/** The supervisor of a run, from source, with the arguments of the real one. */
export function supervisorProgram(agent: string): Program {
  const args = [supervisorEntry, "_run-agent", agent, "--project", projectDir];
  return { file: process.execPath, args };
}

let count = 0;

/** The title of the agent is the script, or the scenario whose script it is. */
export function aRequest(title: string, config: Parameters<typeof anAgent>[1] = {}): RunRequest {
  const instanceId = `dev-test${process.pid}x${++count}`;
  const runtime = { type: "host-user", runAs: "$USER" } as const;
  return { instanceId, agent: anAgent("dev", { title, runtime, ...config }), item: anItem("1") };
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
