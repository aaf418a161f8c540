import { z } from "zod";
import type { HarnessConfig } from "../../../streams/agent-config.ts";
import { defaultHarness, harnesses, harnessTypes } from "../../../streams/harnesses.ts";
import { agentKey, fact } from "./config-key.ts";
import { describeValues } from "./differences.ts";
import { choice, table, text } from "./fields.ts";

const summaries = harnessTypes.map((type) => `"${type}" ${harnesses[type].summary}`).join(", ");

/** `[harness]` of the project and of an agent, whose keys go before the project's. */
export const harnessSchema = table({
  type: choice(harnessTypes)
    .optional()
    .describe(`${summaries}. Without it the project's, else "${defaultHarness}".`),
  command: text("the name or path of an external command line")
    .optional()
    .describe('What "llm-cli" starts. Without it the project\'s, else "claude".'),
});

type HarnessTable = z.output<typeof harnessSchema>;

/** The keys of the first table that has them, else the defaults. */
export function resolveHarness(own: HarnessTable, inherited?: HarnessConfig): HarnessConfig {
  return {
    type: own.type ?? inherited?.type ?? defaultHarness,
    command: own.command ?? inherited?.command ?? "claude",
  };
}

export const harnessKey = agentKey({
  inFile: "harness",
  field: harnessSchema
    .default({})
    .describe("What talks to the model inside a run; goes before the project's."),
  resolve: (own, { project }) => resolveHarness(own, project.harness),
  value: z.object({ type: z.enum(harnessTypes), command: z.string() }),
  change: (before, after) =>
    before.type === after.type
      ? describeValues("harness.command", before.command, after.command)
      : describeValues("harness.type", before.type, after.type),
  facts: ({ type, command }) =>
    fact("Harness", harnesses[type].startsCommand ? `${type} (${command})` : type),
});
