import { closest } from "./closest.ts";

/** `; did you mean "schedule"?` when one of the known names is close to the given one, else nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const near = closest(given, known);
  return near === null ? "" : `; ${meant(near)}`;
}

/** `did you mean "start" or "stat"?` */
export function meant(...names: readonly string[]): string {
  return `did you mean ${names.map((name) => JSON.stringify(name)).join(" or ")}?`;
}
