import { z } from "zod";
import { didYouMean } from "../../../foundation/contracts/did-you-mean.ts";

const maxKeys = 3;
const maxKeyLength = 64;

/** An optional JSON object. An unknown key is rejected with the most similar known one. */
export function optionalBody<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z
    .strictObject(shape, {
      error: (issue) =>
        issue.code === "unrecognized_keys" ? unknownKeys(issue.keys, known) : undefined,
    })
    .nullish();
}

/** The body of a route without one: keys in it were meant for another route, or for its query. */
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
