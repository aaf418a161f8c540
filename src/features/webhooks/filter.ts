import type { Attribute, Attributes, FilterRule } from "./provider.ts";

/** One filter of a binding, ready to be compared. */
export interface Filter {
  readonly field: string;
  readonly rule: FilterRule;
  readonly wanted: ReadonlySet<string> | boolean;
  /** The value in the agent's file. */
  readonly given: string;
}

const maxShown = 3;
const maxShownLength = 100;

/** A filter from a binding's entry. A single value is a list of one. */
export function filterOf(
  field: string,
  rule: FilterRule,
  value: string | boolean | readonly string[],
): Filter {
  if (typeof value === "boolean") return { field, rule, wanted: value, given: String(value) };
  const values = typeof value === "string" ? [value] : value;
  const wanted = new Set(values.map((one) => comparable(rule, one)));
  return { field, rule, wanted, given: valuesText(values) };
}

/** The form in which a filter's value and an event's are compared. */
export function comparable(rule: FilterRule, value: string): string {
  const cased = rule.ignoreCase ? value.toLowerCase() : value;
  return rule.aliases && Object.hasOwn(rule.aliases, cased)
    ? (rule.aliases[cased] ?? cased)
    : cased;
}

/** The event's values that a filter looks at. */
export function attributeOf(
  field: string,
  rule: FilterRule,
  attributes: Attributes,
): readonly string[] | boolean {
  const name = rule.attribute ?? field;
  const attribute: Attribute = Object.hasOwn(attributes, name) ? (attributes[name] ?? null) : null;
  if (typeof attribute === "boolean") return attribute;
  return typeof attribute === "string" ? [attribute] : (attribute ?? []);
}

/** Whether the filter lets the event through. */
export function passes({ rule, wanted, field }: Filter, attributes: Attributes): boolean {
  const attribute = attributeOf(field, rule, attributes);
  const isHit =
    typeof wanted === "boolean" || typeof attribute === "boolean"
      ? attribute === wanted
      : attribute.some((value) => wanted.has(comparable(rule, value)));
  // Bots are rejected only if the config value is true.
  if (rule.excludes) return !isHit || wanted === false;
  return isHit;
}

/** Null when the filter lets the event through, else why not, such as `repos does not include acme/x`. */
export function whyNot(filter: Filter, attributes: Attributes): string | null {
  if (passes(filter, attributes)) return null;
  const { rule, wanted, field } = filter;
  const attribute = attributeOf(field, rule, attributes);
  if (rule.excludes) return whyExcluded(filter, attribute);
  if (typeof wanted === "boolean") {
    return `${field} is ${filter.given}, the event's is ${valuesText(attribute)}`;
  }
  if (typeof attribute === "boolean")
    return `${field} cannot be compared with ${valuesText(attribute)}`;
  if (attribute.length === 0) return `${field} is set and the event carries none`;
  if (rule.kind === "string")
    return `${field} is ${filter.given}, the event's is ${valuesText(attribute)}`;
  return `${field} does not include ${valuesText(attribute)}`;
}

function whyExcluded(
  { field, rule, wanted }: Filter,
  attribute: readonly string[] | boolean,
): string {
  if (typeof wanted === "boolean" || typeof attribute === "boolean") {
    return `${field} excludes events of bots`;
  }
  const hits = attribute.filter((value) => wanted.has(comparable(rule, value)));
  return `${field} includes ${valuesText(hits.slice(0, 1))}`;
}

/** Values for a sentence: few, short, and on one line whatever the sender wrote. */
export function valuesText(values: readonly string[] | boolean): string {
  if (typeof values === "boolean") return String(values);
  const few = values.slice(0, maxShown).map((value) => oneLine(value));
  const more = values.length - few.length;
  return few.join(" or ") + (more > 0 ? ` or ${more} more` : "") || "none";
}

/** A text of the sender for a sentence: short, and without line breaks and other control characters. */
export function oneLine(value: string): string {
  const text = value.slice(0, maxShownLength).replace(/[\p{C}\p{Z}]+/gu, " ");
  return value.length > maxShownLength ? `${text}…` : text;
}
