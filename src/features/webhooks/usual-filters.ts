import type { EventField } from "../../foundation/config/webhook-format.ts";
import { commonFilters, type FilterRule, type FilterRules } from "./provider.ts";

/** Filters over the parts of an event that a sender may have; those without a field, every sender has. */
const usual: Readonly<Record<string, FilterRule & { readonly field?: EventField }>> = {
  repos: {
    kind: "strings",
    meaning: "Specific repositories, as `owner/name`",
    ignoreCase: true,
    field: "repository",
  },
  events: { kind: "strings", meaning: "Event types" },
  actions: {
    kind: "strings",
    meaning:
      "Event actions; without an action, the last part of the event type after `.`, `:` or `/`",
  },
  labels: { kind: "strings", meaning: "Only with any of these labels", field: "labels" },
  author: { kind: "string", meaning: "Only for this author", ignoreCase: true, field: "author" },
  branches: { kind: "strings", meaning: "Only for these branches", field: "branch" },
  conclusions: { kind: "strings", meaning: "Only with these results", field: "conclusion" },
};

/** The usual filters for the fields that a sender has. */
export function usualFilters(
  has: (field: EventField) => boolean,
  meanings: Readonly<Record<string, string>> = {},
): FilterRules {
  const own = Object.entries(usual).filter(([, { field }]) => field === undefined || has(field));
  const filters = own.map(([name, rule]) => [
    name,
    { ...rule, meaning: meanings[name] ?? rule.meaning },
  ]);
  return { ...(Object.fromEntries(filters) as FilterRules), ...commonFilters };
}
