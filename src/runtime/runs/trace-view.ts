import { z } from "zod";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";

/** `queued` and `question` are waits, `model` a turn, `retry` a call to a model that failed, or a switch of models. */
const stepKinds = ["queued", "start", "hook", "model", "tool", "question", "retry"] as const;

const amounts = {
  tokens: z
    .number()
    .nullable()
    .meta({ description: "Tokens of calls to models, including cached ones" }),
  usd: z.number().nullable().meta({ description: "Cost of calls to models, in US dollars" }),
};

const stepSchema = z
  .object({
    kind: z.enum(stepKinds),
    name: z.string(),
    at: z.iso.datetime(),
    durationMs: z.number().nullable().meta({ description: "Null while it is open" }),
    ...amounts,
    failure: nullableText.meta({ description: "The reason of a failure, in few words" }),
    position: nullableText.meta({ description: "Its line in the agent's log" }),
  })
  .meta({ id: "TraceStep" });
export type TraceStep = z.infer<typeof stepSchema>;

/** The steps of a run as a waterfall. */
export const traceSchema = z
  .object({
    instanceId: z.string(),
    at: z.iso
      .datetime()
      .meta({ description: "Start time; for a queued run, when its trigger arrived" }),
    until: z.iso.datetime().meta({ description: "End time, or the time of this answer" }),
    isOver: z.boolean(),
    steps: z.array(stepSchema).meta({ description: "In the order of their start, at most 300" }),
    leftOut: z
      .object({
        after: z.int().meta({ description: "How many of `steps` precede it" }),
        count: z.int(),
        ...amounts,
      })
      .nullable()
      .meta({ description: "Steps in the middle of a longer run, summed up" }),
    firstError: nullableText.meta({
      description: "The first line of the run's log at level error",
    }),
    isWhole: z.boolean().meta({ description: "False if more lines were logged than are read" }),
  })
  .meta({ id: "Trace" });
export type TraceView = z.infer<typeof traceSchema>;
