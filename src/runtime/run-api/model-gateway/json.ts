/** A JSON object whose fields are not known. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of own fields; undefined where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let node = value;
  for (const key of path) {
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

/** The object at a path; an empty one where there is none. */
export function objectAt(value: unknown, ...path: readonly string[]): Json {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

/** The list at a path; an empty one where there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** More than any call has, and few enough that their cost is exact. */
export const mostTokens = 1e9;

/** A count of tokens as a server reports it, which may be wrong: whole and never negative. */
export function countAt(value: unknown, ...path: readonly string[]): number | null {
  const found = numberAt(value, ...path);
  return found === null ? null : Math.min(Math.max(0, Math.ceil(found)), mostTokens);
}

export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = at(value, ...path);
  return typeof found === "string" ? found : null;
}

/** Whether it is so for any object in a value. A list in place of recursion: messages nest as deep as their writer likes. */
export function someObject(value: unknown, isSo: (object: Json) => boolean): boolean {
  const waiting = [value];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (isObject(node) && isSo(node)) return true;
    if (typeof node !== "object" || node === null) continue;
    for (const child of Object.values(node)) waiting.push(child);
  }
  return false;
}

/** The object without some of its fields. */
export function without(object: Json, ...names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
