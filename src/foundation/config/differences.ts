import { formatNames, formatValue } from "./format-value.ts";

/** `label before → after`. */
export function describeValues(label: string, before: unknown, after: unknown): string {
  return `${label} ${formatShort(before)} → ${formatShort(after)}`;
}

function formatShort(value: unknown): string {
  if (value === null) return "none";
  return Array.isArray(value) ? `[${formatNames(value.map(String))}]` : formatValue(value);
}

/** The keys whose values differ, in the order in which they stand. */
export function differingKeys(before: object, after: object): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].filter((key) => !isEqual(old.get(key), now.get(key)));
}

/** Configs are plain data that is always built in one order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
