import { TomlDate } from "smol-toml";
import type { TomlPath } from "./toml-locator.ts";

const longest = 60;

/** A value as a message quotes it: short, on one line. */
export function formatValue(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
  }
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value instanceof TomlDate) return "a date";
  if (typeof value === "object" && value !== null) return "a table";
  return String(value);
}

/** `"a", "b", "c"`. */
export function formatNames(names: Iterable<string>): string {
  return [...names].map(formatValue).join(", ");
}

/** `webhooks[0].repos`. */
export function formatPath(path: TomlPath): string {
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : (index > 0 ? "." : "") + part))
    .join("");
}

/** `label before → after`. */
export function describeValues(label: string, before: unknown, after: unknown): string {
  return `${label} ${formatShort(before)} → ${formatShort(after)}`;
}

function formatShort(value: unknown): string {
  if (value === null) return "none";
  return Array.isArray(value) ? `[${formatNames(value.map(String))}]` : formatValue(value);
}

/** `network.allow ["github"] → ["github", "npm"]`, by the file's keys; null for a table that is not there. */
export function describeKeys(name: string, before: object | null, after: object | null): string {
  const [old, now] = [before ?? {}, after ?? {}];
  const [was, is] = [new Map(Object.entries(old)), new Map(Object.entries(now))];
  return differingKeys(old, now)
    .map((key) => describeValues(`${name}.${key}`, was.get(key) ?? null, is.get(key) ?? null))
    .join(", ");
}

/** The keys whose values differ, in their order. */
export function differingKeys(before: object, after: object): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].filter((key) => !isEqual(old.get(key), now.get(key)));
}

/** Configs are plain data, always built with one order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
