import { z } from "zod";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { agentKeys } from "./agent-keys.ts";
import type { AgentKey, ShownAgent } from "./config-key.ts";
import { describeValues, isEqual } from "./format-value.ts";
import type { AgentFact } from "../contracts/operator-api.ts";
import { failingSchema } from "../contracts/history.ts";
import { upcomingRunsSchema } from "../contracts/upcoming-run.ts";
import { nullableText } from "../contracts/wire-fields.ts";
import { valueSchema } from "./key-table.ts";

/** An agent's config in use, as the API describes it. */
const agentConfigSchema = valueSchema<AgentConfig>(agentKeys).meta({ id: "AgentConfig" });

/** An agent in full, for its own page. */
export const agentDetailSchema = z
  .object({
    config: agentConfigSchema.nullable().meta({ description: "Null until there was a valid one" }),
    nextTicks: z.array(z.iso.datetime()).readonly(),
    next: upcomingRunsSchema.meta({
      description: "The same runs, with those that calendars leave out",
    }),
    failing: failingSchema
      .nullable()
      .meta({ description: "Null while its latest run succeeded or was stopped by a person" }),
    scheduleText: nullableText.meta({ description: "The schedule in words" }),
    facts: z
      .array(z.object({ label: z.string(), values: z.array(z.string()).readonly() }))
      .readonly()
      .meta({ description: "The keys that the config sets, as lines for people" }),
  })
  .meta({ id: "AgentDetail" });

/** An agent's config as lines for people; unset keys have no line. */
export function agentFacts(
  config: AgentConfig,
  describe: ShownAgent["describe"],
): readonly AgentFact[] {
  return (Object.keys(agentKeys) as (keyof AgentConfig)[]).flatMap((name) => {
    const key: AgentKey<unknown> = agentKeys[name];
    return key.facts?.(config[name], { config, describe }) ?? [];
  });
}

/** The differences in one line: `schedule "0 9 * * *" → "0 8 * * *", scale 1 → 2`. Empty if the configs are equal. */
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
