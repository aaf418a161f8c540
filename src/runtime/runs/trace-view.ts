import { z } from "zod";
import { nullableText } from "../../foundation/contracts/wire-fields.ts";

/** `queued` and `question` are waits, `model` a turn, `retry` a call to a model that failed, or a switch of models. */
const stepKinds = ["queued", "start", "hook", "model", "tool", "question", "retry"] as const;

const amounts = {
  tokens: z.number().nullable().meta({ description: "Of calls to models, cached ones too" }),
  usd: z.number().nullable().meta({ description: "US dollars of calls to models" }),
};

const stepSchema = z
  .object({
    kind: z.enum(stepKinds),
    name: z.string(),
    at: z.iso.datetime(),
    durationMs: z.number().nullable().meta({ description: "Null while it is open" }),
    ...amounts,
    failure: nullableText.meta({ description: "Why it failed, in few words" }),
    position: nullableText.meta({ description: "Its line in the agent's log" }),
  })
  .meta({ id: "TraceStep" });
export type TraceStep = z.infer<typeof stepSchema>;

/** The steps of a run as a waterfall. */
export const traceSchema = z
  .object({
    instanceId: z.string(),
    at: z.iso.datetime().meta({ description: "Its start; of a queued run, when its trigger came" }),
    until: z.iso.datetime().meta({ description: "When it ended, or this answer was made" }),
    isOver: z.boolean(),
    steps: z.array(stepSchema).meta({ description: "In the order of their start, at most 300" }),
    leftOut: z
      .object({
        after: z.int().meta({ description: "How many of `steps` come before it" }),
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
