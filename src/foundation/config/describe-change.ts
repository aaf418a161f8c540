import type { AgentConfig } from "../../../streams/agent-config.ts";
import { agentKeys } from "./agent-keys.ts";
import type { AgentKey } from "./config-key.ts";
import { describeValues, isEqual } from "./differences.ts";

/** What differs, in one line: `schedule "0 9 * * *" → "0 8 * * *", scale 1 → 2`. Empty when nothing does. */
export function describeChange(before: AgentConfig, after: AgentConfig): string {
  return (Object.keys(agentKeys) as (keyof AgentConfig)[])
    .filter((name) => !isEqual(before[name], after[name]))
    .map((name) => describeKey(name, before[name], after[name]))
    .join(", ");
}

function describeKey(name: keyof AgentConfig, before: unknown, after: unknown): string {
  const key: AgentKey<unknown> = agentKeys[name];
  const label = key.label ?? key.inFile ?? name;
  if (key.change !== undefined) return key.change(before, after);
  return key.isLong ? `${label} changed` : describeValues(label, before, after);
}
