import { z } from "zod";
import { logKinds } from "./log-kinds.ts";

/** Epoch ms that a Date can hold: a run may write any number, and one beyond throws where it is made a text. */
const timeSchema = z.number().min(0).max(8.64e15);

/** What a run writes on its standard output, one JSON object a line. Typed once for both ends. */
const usageSchema = z.object({
  model: z.string().nullable(),
  tokens: z.number().nullable(),
  costUsd: z.number().nullable(),
  turns: z.number().nullable(),
});

export const runMessageSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("log"),
    level: z.union([
      z.literal(10),
      z.literal(20),
      z.literal(30),
      z.literal(40),
      z.literal(50),
      z.literal(60),
    ]),
    time: timeSchema,
    kind: z.enum(logKinds),
    msg: z.string(),
    /** What belongs to the kind: `tool`, `input`, `output`, `tokens` … */
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({ type: z.literal("status"), text: z.string() }),
  /** The start is over: the harness is loaded, the files are written, and hooks or the session come next. */
  z.object({ type: z.literal("ready") }),
  /**
   * What the run returns, as JSON text in pieces that fit into a line: `more` is true for all but the last. A later
   * value takes the place of an earlier one.
   */
  z.object({ type: z.literal("return"), json: z.string(), more: z.boolean() }),
  /** A run that its schedule started asks to be started again once it succeeded. */
  z.object({ type: z.literal("rerun") }),
  /** A model that did not answer, so that the scheduler can leave it out for a while. */
  z.object({ type: z.literal("cooldown"), model: z.string(), until: timeSchema }),
  /** The run's own account, the last message; the exit code repeats whether it succeeded. */
  z.object({
    type: z.literal("end"),
    error: z.string().nullable(),
    usage: usageSchema,
    /** Present when the machine lacked something: before `ready`, the run is started again. */
    blocked: z.exactOptional(z.literal(true)),
  }),
]);
export type RunMessage = z.infer<typeof runMessageSchema>;
