import { z } from "zod";
import { agentKey, factOf, fact } from "./config-key.ts";
import { table, texts, choice, text } from "./fields.ts";
import type { HarnessConfig } from "../../../streams/agent-config.ts";
import { defaultHarness, harnesses, harnessTypes } from "../../../streams/harnesses.ts";
import { describeValues } from "./format-value.ts";

const summaries = harnessTypes.map((type) => `"${type}" ${harnesses[type].summary}`).join(", ");

/** `[harness]` of the project and of an agent, whose keys override the project's. */
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

const commands = texts().default([]);
const hooksSchema = table({
  pre: commands.describe("Run before the session. One that fails ends the run, and that fails."),
  post: commands.describe(
    "Run after the session, also after one that failed, was ended or ran out of time; AL_OUTCOME has which. One that fails makes the run fail.",
  ),
});

const strings = z.array(z.string()).readonly();

export const hooksKey = agentKey({
  inFile: "hooks",
  field: hooksSchema
    .prefault({})
    .describe("Shell commands around the session, in the run's own environment."),
  resolve: (given): { readonly pre: readonly string[]; readonly post: readonly string[] } => given,
  value: z.object({ pre: strings, post: strings }),
  isLong: true,
  facts: ({ pre, post }) => [
    ...factOf("Before the session", pre),
    ...factOf("After the session", post),
  ],
});
