import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { sendOrder } from "./supervisor-process.ts";
import { isAlive } from "./process-identity.ts";
import { supervisorStartOf } from "./run-environment.ts";
import { logPathOf, readEndRecord, readRunRecord, workDirOf } from "./run-files.ts";

/** A run that an earlier scheduler started and that can be gone on with, with the config that it started with. */
export interface FoundHostUserRun {
  readonly instanceId: string;
  readonly agent: AgentConfig;
}

/** Those of the instances that live, or whose end was not observed; remains of others are ended and removed. */
export async function findRuns(
  instanceIds: readonly string[],
  options: HostUserOptions,
): Promise<readonly FoundHostUserRun[]> {
  const found = await Promise.all(instanceIds.map((id) => findRun(id, options)));
  return found.filter((run) => run !== null);
}

async function findRun(
  instanceId: string,
  options: HostUserOptions,
): Promise<FoundHostUserRun | null> {
  const path = logPathOf(options.baseDir, instanceId);
  const record = await readRunRecord(path);
  if (record === null) return null;
  const { agent, process, mark } = record;
  if (isAlive(process) || (await readEndRecord(path)) !== null) return { instanceId, agent };
  const start = supervisorStartOf(agent.name, agent.runtime.runAs, options);
  const workDir = workDirOf(options.baseDir, instanceId);
  await sendOrder(start, { order: "end", instanceId, mark, workDir });
  return null;
}
