import type { Scan } from "./scan.ts";

/** Paths that came, went or changed between two scans, sorted. */
export function diffScan(before: Scan, after: Scan): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}
