import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

/** Texts that have little in common take long to compare, and a line by line account of them helps no reader. */
const longestMs = 500;

/** The unified difference between two texts as files of these names; empty if they are equal. */
export function textDifference(
  [old, now]: readonly [old: string, now: string],
  before: string,
  after: string,
  timeoutMs = longestMs,
): string {
  if (before === after) return "";
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, timeout: timeoutMs };
  const patch = createTwoFilesPatch(old, now, before, after, undefined, undefined, options);
  return patch ?? replaced([old, now], before, after);
}

/** The difference that removes every line and adds all others. */
function replaced([old = "", now = ""]: readonly string[], before: string, after: string): string {
  const [removed, added] = [before, after].map((text) => text.split("\n").slice(0, -1));
  const [gone = [], come = []] = [removed, added];
  return [
    `--- ${old}`,
    `+++ ${now}`,
    `@@ -1,${gone.length} +1,${come.length} @@`,
    ...gone.map((line) => `-${line}`),
    ...come.map((line) => `+${line}`),
    "",
  ].join("\n");
}
