/** Values that a payload must have, by their paths in it, such as `issue.labels.0.name`. */
export type Where = Readonly<Record<string, Scalar>>;
export type Scalar = string | number | boolean | null;

/** Cached split paths: the same few are looked up in each delivery. */
const keysOf = new Map<string, readonly string[]>();
const maxRemembered = 1_000;

/**
 * The value at a dotted path; undefined if the path ends early. A number is an index if it meets a list. Own members
 * only: inherited ones were not sent.
 */
export function valueAt(payload: unknown, path: string): unknown {
  let value = payload;
  for (const key of keysIn(path)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** The paths whose values are not the wanted ones. */
export function unmetPaths(payload: unknown, where: Where): readonly string[] {
  return Object.keys(where).filter((path) => valueAt(payload, path) !== where[path]);
}

function keysIn(path: string): readonly string[] {
  const known = keysOf.get(path);
  if (known !== undefined) return known;
  const keys = path.split(".");
  if (keysOf.size < maxRemembered) keysOf.set(path, keys);
  return keys;
}
