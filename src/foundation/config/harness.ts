import { z } from "zod";
import { agentKey, factOf, fact } from "./config-key.ts";
import { table, texts, choice, list, text } from "./fields.ts";
import type { HarnessConfig } from "../../../streams/agent-config.ts";
import { defaultHarness, harnesses, harnessTypes } from "../../../streams/harnesses.ts";
import { describeValues } from "./format-value.ts";

const summaries = harnessTypes.map((type) => `"${type}" ${harnesses[type].summary}`).join(", ");

/** `[harness]` of the project and of an agent, whose keys override the project's. */
export const harnessSchema = table({
  type: choice(harnessTypes)
    .optional()
    .meta({
      description: `${summaries}.`,
      fallback: `"${defaultHarness}"; for an agent, the project's \`type\``,
    }),
  command: commandLine().optional().meta({
    description:
      'Command that "llm-cli" starts, or a list of the command and its arguments. A program other than claude, codex or gemini reads the prompt from standard input, and its exit code decides whether the run succeeded.',
    fallback: '"claude"; for an agent, the project\'s `command`',
  }),
});

function commandLine() {
  const error = "the name or path of a command line, or a list of it and its arguments";
  const program = text(error);
  return z.union([program, list(program, error).min(1, { error })], { error });
}

export type HarnessTable = z.output<typeof harnessSchema>;

/** The keys of the first table that has them, else the defaults. */
export function resolveHarness(own: HarnessTable, inherited?: HarnessConfig): HarnessConfig {
  const type = own.type ?? inherited?.type ?? defaultHarness;
  const given = own.command ?? [inherited?.command ?? "claude", ...(inherited?.args ?? [])];
  const [command = "", ...args] = typeof given === "string" ? [given] : given;
  return { type, command, ...(args.length > 0 && { args }) };
}

export const harnessKey = agentKey({
  inFile: "harness",
  field: harnessSchema
    .default({})
    .describe(
      "The program that talks to the model during a run. Overrides the project's `[harness]`.",
    ),
  resolve: (own, { project }) => resolveHarness(own, project.harness),
  value: z.object({
    type: z.enum(harnessTypes),
    command: z.string(),
    args: z.array(z.string()).readonly().optional(),
  }),
  change: (before, after) =>
    before.type === after.type
      ? describeValues("harness.command", commandText(before), commandText(after))
      : describeValues("harness.type", before.type, after.type),
  facts: (harness) => {
    const { type } = harness;
    const command = ` (${commandText(harness)})`;
    return fact("Harness", harnesses[type].startsCommand ? `${type}${command}` : type);
  },
});

function commandText({ command, args = [] }: HarnessConfig): string {
  return [command, ...args].join(" ");
}

const commands = texts().default([]);
const hooksSchema = table({
  pre: commands.describe("Commands to run before the session. If one fails, the run fails."),
  post: commands.describe(
    "Commands to run after the session, even if it failed, was killed or timed out; `AL_OUTCOME` contains the outcome. If one fails, the run fails.",
  ),
});

const strings = z.array(z.string()).readonly();

export const hooksKey = agentKey({
  inFile: "hooks",
  field: hooksSchema
    .prefault({})
    .describe("Shell commands before and after the session, in the run's environment."),
  resolve: (given): { readonly pre: readonly string[]; readonly post: readonly string[] } => given,
  value: z.object({ pre: strings, post: strings }),
  isLong: true,
  facts: ({ pre, post }) => [
    ...factOf("Before the session", pre),
    ...factOf("After the session", post),
  ],
});
