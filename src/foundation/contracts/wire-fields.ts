import { z } from "zod";

/** A text that may be missing. */
export const nullableText = z.string().nullable();

/** The size of a page, from 1 to `most`. */
export const pageSize = (most: number, usual: number) =>
  z.coerce.number().int().min(1).max(most).default(usual);

/** The beginning of a time range. */
export const since = z.iso.datetime({ offset: true }).optional();
