import { z } from "zod";
import { didYouMean } from "../../../foundation/contracts/did-you-mean.ts";

const maxKeys = 3;
const maxKeyLength = 64;

/** A JSON object that may be left out. A key that it does not have is refused with the closest one that it has. */
export function optionalBody<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z
    .strictObject(shape, {
      error: (issue) =>
        issue.code === "unrecognized_keys" ? unknownKeys(issue.keys, known) : undefined,
    })
    .nullish();
}

/** The body of a route that takes none: one with keys was meant for another route, or for its query. */
export const emptyBody = optionalBody({});

function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const named = keys.slice(0, maxKeys).map((key) => unknownKey(key, known));
  const others = keys.length - named.length;
  return [...named, ...(others > 0 ? [`and ${others} more`] : [])].join(", ");
}

function unknownKey(key: string, known: readonly string[]): string {
  const expected = known.length === 0 ? "this body has no keys" : `known here: ${known.join(", ")}`;
  const near = didYouMean(key, known) || `; ${expected}`;
  return `unknown key ${JSON.stringify(key.slice(0, maxKeyLength))}${near}`;
}
