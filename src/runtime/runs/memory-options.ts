import type { ConfiguredAgent } from "../../../streams/status/agent-record.ts";
import type { MemoryOptions } from "../../features/memory/memory-reports.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";

/** The options of an agent's memory, or of a shared one; null if the config does not have it. */
export function memoryOptions(
  name: string,
  project: Pick<ProjectConfig, "memories"> | null,
  agent: (name: string) => Pick<ConfiguredAgent, "config"> | undefined,
): MemoryOptions | null {
  const [, shared] = /^shared\/(.*)$/.exec(name) ?? [];
  if (shared === undefined) {
    const own = agent(name)?.config?.memory ?? null;
    return own && { ...own, shared: own.shared.map((one) => one.name) };
  }
  const options = project?.memories[shared];
  return options === undefined ? null : { ...options, shared: [] };
}
