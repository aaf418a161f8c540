import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { createRecordFiles } from "../record-files.ts";

/**
 * The config that each of the project's runs was started with, kept until its container is gone. Not a label of the
 * container, which every client of the engine can read.
 */
export interface RunRecords {
  write(request: RunRequest): Promise<void>;
  /** Null when there is none that can be read. */
  read(instanceId: string): Promise<AgentConfig | null>;
  remove(instanceId: string): Promise<void>;
  /** Instance ids. */
  list(): Promise<readonly string[]>;
}

/** Records as files in a folder of the scheduler's user, which is made when it is needed. */
export function createRunRecords(dir: string): RunRecords {
  const files = createRecordFiles<AgentConfig>(dir);
  return { ...files, write: ({ instanceId, agent }) => files.write(instanceId, agent) };
}
