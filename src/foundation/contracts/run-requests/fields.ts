import type { z } from "zod";
import type { Zod } from "./row.ts";

/** Characters of a text that a run sends: a context, a status, a value as JSON. */
export const maxTextLength = 65_536;

/** An answer without more than that the request was performed. */
export const done = (z: Zod) => z.object({ ok: z.literal(true) });

export const seconds = (z: Zod) => z.number().min(0).max(86_400);

/** A URI, so that two agents mean the same by it; people read it, so each of its characters is visible. */
export const resource = (z: Zod): z.ZodString =>
  z
    .string()
    .max(512)
    .regex(
      /^[a-z][a-z0-9+.-]*:[^\s\p{C}]+$/iu,
      "a resource is a URI, such as github:acme/app/issues/7",
    )
    .describe("A URI, such as github:acme/app/issues/7.");

/** A name that people are shown. */
export const shownName = (z: Zod): z.ZodString =>
  z
    .string()
    .max(200)
    .regex(/^\P{C}*$/u, "it holds a control character");
