import { z } from "zod";
import { Problem } from "../errors.ts";
import { agentNamePattern } from "./credential-reference.ts";
import { didYouMean } from "./did-you-mean.ts";

const agentName = new RegExp(`^${agentNamePattern}$`);
const receiptId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const instanceId = new RegExp(`^${agentNamePattern}-[a-z2-7]{8}$`);

/** The 404 for an unknown agent. */
export function unknownAgent(name: string): Problem {
  return new Problem("unknown_agent", `There is no agent ${JSON.stringify(name)}.`);
}

/** The 404 for an unknown run. */
export function unknownInstance(id: string): Problem {
  return new Problem("unknown_instance", `There is no run ${JSON.stringify(id)}.`);
}

/** The name, if it is a valid agent name. The router decodes `..%2f` and NUL into it. */
export function mustBeAgent(name: string): string {
  if (agentName.test(name)) return name;
  throw unknownAgent(name);
}

/** The id, if it is a valid run id. */
export function mustBeInstance(id: string): string {
  if (instanceId.test(id)) return id;
  throw unknownInstance(id);
}

function mustBeReceipt(given: string): string {
  const id = given.toLowerCase();
  if (receiptId.test(id)) return id;
  throw new Problem("unknown_receipt", `There is no receipt ${JSON.stringify(id)}.`);
}

export const agentParams = z.object({
  name: z.string().meta({ description: "An agent's name" }).transform(mustBeAgent),
});
export const instanceParams = z.object({
  instanceId: z
    .string()
    .meta({ description: "`<agent>-<8 base32 characters>`" })
    .transform(mustBeInstance),
});
export const receiptParams = z.object({
  receiptId: z.string().meta({ description: "A webhook receipt's id" }).transform(mustBeReceipt),
});
export const triggerParams = z.object({
  id: z.string().max(200).meta({ description: "An entry's `id` in the trigger history" }),
});

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
