import { z } from "zod";
import { defaultRuntime, runtimes, runtimeTypes } from "../../streams/runtimes.ts";
import { agentKey, fact } from "./config-key.ts";
import { describeValues } from "./differences.ts";
import { choice, pattern, table } from "./fields.ts";

const runtimeSchema = table({
  type: choice(runtimeTypes)
    .default(defaultRuntime)
    .describe(
      `A run is a process ${runtimeTypes.map((type) => runtimes[type].summary).join(", or ")}.`,
    ),
  run_as: pattern(
    /^(\$USER|[A-Za-z_][A-Za-z0-9_.-]{0,31})$/,
    'the name of an OS user, or "$USER" for the one that runs the scheduler',
  )
    .default("al-agent")
    .describe("The OS user of a host-user agent; $USER isolates nothing from you."),
});

export const runtimeKey = agentKey({
  inFile: "runtime",
  field: runtimeSchema.prefault({}).describe("Where its runs are processes."),
  resolve: ({ type, run_as }) => ({ type, runAs: run_as }),
  written: ({ type, runAs }) => ({ type, run_as: runAs }),
  value: z.object({ type: z.enum(runtimeTypes), runAs: z.string() }),
  change: (before, after) =>
    before.type === after.type
      ? describeValues("runtime.run_as", before.runAs, after.runAs)
      : describeValues("runtime.type", before.type, after.type),
  facts: ({ type, runAs }) => fact("Runs in", runtimes[type].place(runAs)),
});
