/**
 * UTF-8 bytes that pieces of an answer have, for an estimate of its tokens: texts, and objects or lists by their JSON.
 * Anything else has none.
 */
export function bytesOf(...values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + bytes(value), 0);
}

function bytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  return typeof value === "object" && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 0;
}
