import { GatewayProblem } from "../gateway-problem.ts";
import { at, mostTokens } from "../json.ts";
import type { Json } from "../json.ts";

/**
 * The number of tokens that a request has at a path; null where there is none. Throws a GatewayProblem for what servers
 * read in different ways, such as "5", 0.5 and -1: the limit that is reserved must be the one that the provider takes.
 */
export function tokensAt(body: Json, least: number, ...path: readonly string[]): number | null {
  const found = at(body, ...path) ?? null;
  if (found === null) return null;
  if (isWhole(found) && found >= least && found <= mostTokens) return found;
  const message = `${path.join(".")} is not a whole number of tokens from ${least} to ${mostTokens}`;
  throw new GatewayProblem({ status: 400, code: "bad_request", message });
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}
