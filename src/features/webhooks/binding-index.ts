import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { unmetPaths, valueAt, type Where } from "../../../streams/where.ts";
import type { Mismatch } from "./delivery-report.ts";
import {
  attributeOf,
  comparable,
  filterOf,
  oneLine,
  passes,
  valuesText,
  whyNot,
} from "./filter.ts";
import type { Filter } from "./filter.ts";
import type { Payload } from "./json.ts";
import type { Attributes, FilterRule, OptIn } from "./provider.ts";
import { providerTable } from "./providers/table.ts";

/** One `[[webhooks]]` entry of one agent, ready to be compared. */
export interface IndexedBinding {
  readonly agent: string;
  readonly filters: readonly Filter[];
  readonly where: Where;
  /** A filter that this provider does not have; such a binding never matches. */
  readonly unknown: string | null;
}

interface Drawer {
  readonly rule: FilterRule;
  readonly byValue: Map<string, Set<IndexedBinding>>;
}

/** Reads a binding. An unknown filter, which config validation rejects, makes it never match. */
export function indexedBinding(agent: string, binding: WebhookBinding): IndexedBinding {
  const rules = providerTable.get(binding.type)?.filters ?? {};
  const filters: Filter[] = [];
  for (const [field, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(binding.filters, field) ? binding.filters[field] : undefined;
    if (value !== undefined) filters.push(filterOf(field, rule, value));
  }
  const unknown =
    Object.keys(binding.filters).find((field) => !Object.hasOwn(rules, field)) ?? null;
  return { agent, filters, where: binding.where ?? {}, unknown };
}

/** An event, as it is compared with bindings. */
export interface MatchInput {
  readonly attributes: Attributes;
  readonly payload: Payload;
  readonly optIn?: OptIn;
}

/** Whether a binding lets an event through. The payload is read last: most events stop at a filter. */
export function letsThrough(binding: IndexedBinding, event: MatchInput): boolean {
  const { filters, where, unknown } = binding;
  const { attributes, payload } = event;
  const isUnmet = (): boolean => unmetPaths(payload, where).length > 0;
  const mayPass = unknown === null && isAskedFor(binding, event);
  return mayPass && filters.every((filter) => passes(filter, attributes)) && !isUnmet();
}

/** Whether the binding gets events of this kind; its values are compared separately. */
function isAskedFor({ filters, where }: IndexedBinding, { optIn }: MatchInput): boolean {
  if (optIn === undefined || Object.hasOwn(where, optIn.path)) return true;
  return filters.some(({ field }) => field === optIn.filter);
}

/** A condition that keeps an event out; `why` says so in a sentence. */
export interface FailedCondition extends Mismatch {
  readonly why: string;
}

/** The conditions of a binding that keep an event out; empty if it lets the event through. */
export function conditionsAgainst(
  binding: IndexedBinding,
  event: MatchInput,
): readonly FailedCondition[] {
  const { filters, where, unknown } = binding;
  const { attributes, payload, optIn } = event;
  if (unknown !== null) {
    const why = `${unknown} is not a filter of this source's type`;
    return [{ condition: unknown, wanted: "a filter that there is", got: "none", why }];
  }
  const unmet = unmetPaths(payload, where).map((path) => {
    const [got, wanted] = [valueText(valueAt(payload, path)), valueText(where[path])];
    const why = `where ${path} is ${got}, not ${wanted}`;
    return { condition: `where ${path}`, wanted, got, why };
  });
  const unasked = optIn && !isAskedFor(binding, event) ? [notAskedFor(optIn)] : [];
  const failed = filters.flatMap((filter) => failedFilter(filter, attributes) ?? []);
  return [...unasked, ...failed, ...unmet];
}

function notAskedFor({ filter, value: got }: OptIn): FailedCondition {
  const why = `${filter} does not name ${got}`;
  return { condition: filter, wanted: `no ${got} unless it is named`, got, why };
}

function failedFilter(filter: Filter, attributes: Attributes): FailedCondition | null {
  const why = whyNot(filter, attributes);
  if (why === null) return null;
  const { field, rule, wanted, given } = filter;
  const got = valuesText(attributeOf(field, rule, attributes));
  if (!rule.excludes) return { condition: field, wanted: given, got, why };
  return typeof wanted === "boolean"
    ? { condition: field, wanted: "no event of a bot", got: "one", why }
    : { condition: field, wanted: `none of ${given}`, got, why };
}

/** A value of a payload or of `where`, for a sentence. */
function valueText(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return JSON.stringify(oneLine(value));
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return JSON.stringify(value);
}

/**
 * For each `[[webhooks]]` entry of an agent that listens to the source, the conditions that keep the event out. Null if
 * no entry listens to the source, empty if one of them lets the event through.
 */
export function explain(
  agent: { readonly name: string; readonly webhooks: readonly WebhookBinding[] },
  source: string,
  event: MatchInput,
): readonly (readonly FailedCondition[])[] | null {
  const entries = agent.webhooks.filter((binding) => binding.source === source);
  if (entries.length === 0) return null;
  const against = entries.map((one) => conditionsAgainst(indexedBinding(agent.name, one), event));
  return against.some((conditions) => conditions.length === 0) ? [] : against;
}

/**
 * The bindings of one source. Each is filed under the values of its most selective list, or among those that take
 * everything: an event then looks only at bindings that share a value with it.
 */
export class BindingIndex {
  readonly #all = new Set<IndexedBinding>();
  readonly #unfiled = new Set<IndexedBinding>();
  readonly #drawers = new Map<string, Drawer>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** In the order they were added. */
  get all(): ReadonlySet<IndexedBinding> {
    return this.#all;
  }

  add(binding: IndexedBinding): void {
    this.#all.add(binding);
    const key = keyOf(binding);
    if (key === null) {
      this.#unfiled.add(binding);
      return;
    }
    const drawer: Drawer = this.#drawers.get(key.field) ?? {
      rule: key.rule,
      byValue: new Map<string, Set<IndexedBinding>>(),
    };
    this.#drawers.set(key.field, drawer);
    for (const value of key.values) {
      const filed = drawer.byValue.get(value) ?? new Set<IndexedBinding>();
      drawer.byValue.set(value, filed.add(binding));
    }
  }

  delete(binding: IndexedBinding): void {
    this.#all.delete(binding);
    this.#unfiled.delete(binding);
    const key = keyOf(binding);
    const drawer = key && this.#drawers.get(key.field);
    if (!drawer) return;
    for (const value of key.values) {
      const filed = drawer.byValue.get(value);
      filed?.delete(binding);
      if (filed?.size === 0) drawer.byValue.delete(value);
    }
    if (drawer.byValue.size === 0) this.#drawers.delete(key.field);
  }

  /** The bindings that may match; no other binding can. */
  candidates(attributes: Attributes): Set<IndexedBinding> {
    const found = new Set(this.#unfiled);
    for (const [field, { rule, byValue }] of this.#drawers) {
      const attribute = attributeOf(field, rule, attributes);
      for (const value of typeof attribute === "boolean" ? [] : attribute) {
        for (const binding of byValue.get(comparable(rule, value)) ?? []) found.add(binding);
      }
    }
    return found;
  }
}

function keyOf({ filters }: IndexedBinding): {
  readonly field: string;
  readonly rule: FilterRule;
  readonly values: ReadonlySet<string>;
} | null {
  for (const { field, rule, wanted } of filters) {
    if (!rule.excludes && typeof wanted !== "boolean") return { field, rule, values: wanted };
  }
  return null;
}
