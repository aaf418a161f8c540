import type { z } from "zod";
import { refusal } from "../../foundation/contracts/run-api.ts";
import type { RunApiError } from "../../foundation/contracts/run-api.ts";
import { schemaProblems } from "../../foundation/contracts/schema-problems.ts";

export function starting(): RunApiError {
  return refusal("unavailable", "The scheduler is starting.");
}

/** Refuses what a run asks whose socket ended like this. */
export function endedRun(how: "over" | "closing" | null): RunApiError {
  if (how === "over") return refusal("unauthorized", "This run is over.");
  return refusal("unavailable", "The scheduler is stopping.");
}

/** What was asked, checked; the message names what is wrong and repeats nothing of it. */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusal("malformed", `${what}: ${schemaProblems(result.error)}`);
}
