import type { z } from "zod";

/** Says which type of the vocabulary a schema describes: one that lacks a field does not compile. */
export function describing<T>(schema: z.ZodType<T, T>): z.ZodType<T, T> {
  return schema;
}
