import { isPlainObject } from "../../../foundation/contracts/json-size.ts";

/** A JSON object from the stream of an external program, with unvalidated fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value if it is an object, else an empty object. */
export function fieldsOf(value: unknown): Fields {
  return isPlainObject(value) ? value : {};
}

/** The objects of a list; empty if the value isn't a list. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The sum of the fields that are numbers; null if all are missing. */
export function sumOf(fields: Fields, ...names: readonly string[]): number | null {
  const numbers = names.map((name) => numberOf(fields[name])).filter((value) => value !== null);
  return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0);
}

/** The first text that is not empty, as the reason of a failure. */
export function reasonIn(...values: readonly unknown[]): string {
  return values.map(textOf).find((text) => text !== "") ?? "no reason given";
}
