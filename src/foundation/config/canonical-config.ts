import type { AgentConfig, NetworkConfig } from "../../../streams/agent-config.ts";
import type { ProjectNetwork } from "../../../streams/run-network.ts";
import { agentKeys } from "./agent-keys.ts";
import type { CanonicalContext } from "./config-key.ts";
import { canonicalKeys } from "./key-table.ts";
import type { ProjectConfig } from "./project-config.ts";

/** Defaults of the project for an agent that runs in containers. */
type ContainerDefaults = Pick<ProjectConfig["local"], "image" | "memory" | "cpus">;

interface CanonicalOptions extends CanonicalContext {
  /** Null for a runtime without limits. */
  readonly container: ContainerDefaults | null;
  readonly project: ProjectNetwork;
  /** The skill's files by path, with a hash each. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The config of a run as text that is equal for equal configs: keys in alphabetical order, only set ones, no
 * instructions. Two such texts are compared line by line.
 */
export function canonicalConfig(config: AgentConfig, options: CanonicalOptions): string {
  const { container, project, files } = options;
  const { memory, cpus, network, env } = config.local;
  const local = {
    env,
    memory: memory ?? container?.memory ?? null,
    cpus: cpus ?? container?.cpus ?? null,
    network: network ?? project.local.network,
  };
  const keys = canonicalKeys(
    agentKeys,
    { ...config, local, network: together(config.network, project.network) },
    options,
  );
  const image = container?.image ?? null;
  return `${JSON.stringify(ordered({ ...keys, instructions: null, image, files }), null, 2)}\n`;
}

function together(own: NetworkConfig | null, project: NetworkConfig | null): NetworkConfig | null {
  if (own === null || project === null) return own ?? project;
  return { allow: [...new Set([...project.allow, ...own.allow])] };
}

/** Plain data with the keys of its objects sorted, without null and empty values. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, inner]) => [key, ordered(inner)] as const)
    .filter(([, inner]) => !isEmpty(inner))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
