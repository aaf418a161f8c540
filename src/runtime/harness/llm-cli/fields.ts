/** A JSON object of a stream that others write: nothing about it is sure. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one when it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

/** The objects of a list; none when it is no list. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The sum of those fields that are numbers; null when none is. */
export function sumOf(fields: Fields, ...names: readonly string[]): number | null {
  const numbers = names.map((name) => numberOf(fields[name])).filter((value) => value !== null);
  return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0);
}
