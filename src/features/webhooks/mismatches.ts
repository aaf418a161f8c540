import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { unmetPaths, valueAt } from "../../../streams/where.ts";
import type { Mismatch } from "../../foundation/contracts/why-not.ts";
import { indexedBinding, whereValueText } from "./binding-index.ts";
import type { IndexedBinding, MatchInput } from "./binding-index.ts";
import { attributeOf, passes, valuesText } from "./filter.ts";
import type { Filter } from "./filter.ts";
import type { Attributes } from "./provider.ts";

/**
 * What of an agent's entries stops an event of a source: a list for each `[[webhooks]]` entry that listens to it. Empty
 * when one lets it through, null when the agent does not listen to the source.
 */
export function mismatchesOf(
  agent: { readonly name: string; readonly webhooks: readonly WebhookBinding[] },
  source: string,
  event: MatchInput,
): readonly (readonly Mismatch[])[] | null {
  const entries = agent.webhooks.filter((binding) => binding.source === source);
  if (entries.length === 0) return null;
  const stopped = entries.map((entry) => against(indexedBinding(agent.name, entry), event));
  return stopped.some((mismatches) => mismatches.length === 0) ? [] : stopped;
}

function against(
  { filters, where, unknown }: IndexedBinding,
  { attributes, payload }: MatchInput,
): readonly Mismatch[] {
  if (unknown !== null)
    return [{ condition: unknown, wanted: "a filter that there is", got: "none" }];
  const failed = filters.filter((filter) => !passes(filter, attributes));
  const unmet = unmetPaths(payload, where).map((path) => ({
    condition: `where ${path}`,
    wanted: whereValueText(where[path]),
    got: whereValueText(valueAt(payload, path)),
  }));
  return [...failed.map((filter) => mismatchOf(filter, attributes)), ...unmet];
}

function mismatchOf(filter: Filter, attributes: Attributes): Mismatch {
  const { field, rule, wanted, given } = filter;
  const got = valuesText(attributeOf(field, rule, attributes));
  if (!rule.excludes) return { condition: field, wanted: given, got };
  return typeof wanted === "boolean"
    ? { condition: field, wanted: "no event of a bot", got: "one" }
    : { condition: field, wanted: `none of ${given}`, got };
}
