import { z } from "zod";
import { logKinds } from "../../foundation/contracts/log-kinds.ts";

/** Epoch ms in the range of Date: a run may write any number, and formatting a larger one would throw. */
const timeSchema = z.number().min(0).max(8.64e15);

/** Messages of a run on its standard output, one JSON object per line. Run and scheduler share these types. */
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
    /** Fields of the kind: `tool`, `input`, `output`, `tokens` … */
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({ type: z.literal("status"), text: z.string() }),
  /** The run has started: the harness is loaded and the files are written; hooks or the session are next. */
  z.object({ type: z.literal("ready") }),
  /**
   * The run's return value, as JSON text in pieces that fit into a line: `more` is true for all but the last. A later
   * value replaces an earlier one.
   */
  z.object({ type: z.literal("return"), json: z.string(), more: z.boolean() }),
  /** A scheduled run requests another run after it succeeded. */
  z.object({ type: z.literal("rerun") }),
  /** A model did not answer, so that the scheduler can skip it for a while. */
  z.object({ type: z.literal("cooldown"), model: z.string(), until: timeSchema }),
  /** The last message: the run's result. The exit code repeats whether it succeeded. */
  z.object({
    type: z.literal("end"),
    error: z.string().nullable(),
    usage: usageSchema,
    /** Present if the machine lacked a resource; before `ready`, the run is then started again. */
    blocked: z.exactOptional(z.literal(true)),
    /** Present if a person ended it after a turn. */
    stopped: z.exactOptional(z.literal(true)),
  }),
]);
export type RunMessage = z.infer<typeof runMessageSchema>;
