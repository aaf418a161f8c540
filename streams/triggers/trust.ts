/**
 * Whether a run must not change what later runs read. `names` are those of all deliveries at its origin, null without a
 * delivery; an empty name stands for a delivery that carries none.
 */
export function isUntrusted(names: readonly string[] | null, trusted: readonly string[]): boolean {
  if (names === null) return false;
  return names.length === 0 || names.some((name) => name === "" || !trusted.includes(name));
}
