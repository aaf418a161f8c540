import { formatNames, formatValue } from "./format-value.ts";

/** How a changed key is said: with both values, or, where these are long or private, as changed. */
export type Say<Config> = (before: Config, after: Config) => string;

/** `label before → after`. */
export function both<Config>(label: string, value: (config: Config) => unknown): Say<Config> {
  return (before, after) => `${label} ${sayShort(value(before))} → ${sayShort(value(after))}`;
}

export function changed(label: string): () => string {
  return () => `${label} changed`;
}

function sayShort(value: unknown): string {
  if (value === null) return "none";
  return Array.isArray(value) ? `[${formatNames(value.map(String))}]` : formatValue(value);
}

export function differingKeys(before: object, after: object): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].filter((key) => !isEqual(old.get(key), now.get(key)));
}

export function sayDifferences<Config extends object>(
  keys: { readonly [Key in keyof Config]?: Say<Config> },
  before: Config,
  after: Config,
): string {
  return (Object.keys(keys) as (keyof Config)[])
    .filter((key) => !isEqual(before[key], after[key]))
    .map((key) => keys[key]?.(before, after))
    .join(", ");
}

/** Configs are plain data that is always built in one order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
