import { isPlainObject } from "../../foundation/contracts/json-size.ts";

/** A JSON object whose fields are not known. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return isPlainObject(value);
}

/** The value at a path of own fields; undefined if the path is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let node = value;
  for (const key of path) {
    if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}

/** The object at a path; an empty object if it is missing. */
export function objectAt(value: unknown, ...path: readonly string[]): Json {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

/** The list at a path; an empty list if it is missing. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function numberAt(value: unknown, ...path: readonly string[]): number | null {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** Maximum token count: more than any call has, and small enough for exact cost arithmetic. */
export const mostTokens = 1e9;

/** A server's token count, rounded up to an integer and clamped to 0 … `mostTokens`; null if it is missing. */
export function countAt(value: unknown, ...path: readonly string[]): number | null {
  const found = numberAt(value, ...path);
  return found === null ? null : Math.min(Math.max(0, Math.ceil(found)), mostTokens);
}

export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = at(value, ...path);
  return typeof found === "string" ? found : null;
}

/** Whether any object in a value matches. Uses a stack instead of recursion: clients may nest messages deeply. */
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

/**
 * UTF-8 bytes of pieces of an answer, for an estimate of its tokens: texts, and objects or lists by their JSON. Other
 * values count 0.
 */
export function bytesOf(...values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + bytes(value), 0);
}

function bytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  return typeof value === "object" && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 0;
}
