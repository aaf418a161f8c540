import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { unmetPaths, valueAt } from "../../../streams/where.ts";
import type { Where } from "../../../streams/where.ts";
import { comparable, attributeOf, filterOf, oneLine, passes, whyNot } from "./filter.ts";
import type { Filter } from "./filter.ts";
import type { Payload } from "./json.ts";
import type { Attributes, FilterRule } from "./provider.ts";
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

/** Reads a binding. Config validation refuses unknown filters; should one get here, it must not open the door. */
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
}

/** Whether a binding lets an event through. The payload is looked into last: most events stop at a filter. */
export function letsThrough(binding: IndexedBinding, { attributes, payload }: MatchInput): boolean {
  const { filters, where, unknown } = binding;
  const isUnmet = (): boolean => unmetPaths(payload, where).length > 0;
  return unknown === null && filters.every((filter) => passes(filter, attributes)) && !isUnmet();
}

/** How many conditions of a binding keep an event out. */
export function conditionsAgainst(
  binding: IndexedBinding,
  { attributes, payload }: MatchInput,
): number {
  const { filters, where, unknown } = binding;
  if (unknown !== null) return 1;
  const failed = filters.reduce((count, filter) => count + Number(!passes(filter, attributes)), 0);
  return failed + unmetPaths(payload, where).length;
}

/** Why a binding does not let an event through, one reason for each condition that failed; empty when it does. */
export function reasonsAgainst(
  { filters, where, unknown }: IndexedBinding,
  { attributes, payload }: MatchInput,
): readonly string[] {
  if (unknown !== null) return [`${unknown} is no filter of this source's type`];
  const failed = filters.map((filter) => whyNot(filter, attributes)).filter((why) => why !== null);
  return [...failed, ...whyNotWhere(payload, where)];
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

/** One reason for each path whose value is not the wanted one: `where issue.level is "error", not "fatal"`. */
function whyNotWhere(payload: Payload, where: Where): readonly string[] {
  return unmetPaths(payload, where).map((path) => {
    const [found, wanted] = [valueAt(payload, path), where[path]];
    return `where ${path} is ${whereValueText(found)}, not ${whereValueText(wanted)}`;
  });
}

/** A value of a payload or of `where`, for a sentence. */
export function whereValueText(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return JSON.stringify(oneLine(value));
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return JSON.stringify(value);
}
