import { unmetPaths, valueAt } from "../../streams/where.ts";
import type { Where } from "../../streams/where.ts";
import { oneLine } from "./filter.ts";
import type { Payload } from "./json.ts";

/** One reason for each path whose value is not the wanted one: `where issue.level is "error", not "fatal"`. */
export function whyNotWhere(payload: Payload, where: Where): readonly string[] {
  return unmetPaths(payload, where).map((path) => {
    const [found, wanted] = [valueAt(payload, path), where[path]];
    return `where ${path} is ${shown(found)}, not ${shown(wanted)}`;
  });
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") return JSON.stringify(oneLine(value));
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return JSON.stringify(value);
}
