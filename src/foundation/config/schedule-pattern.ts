import { shortNames } from "./schedule.ts";

/**
 * What a schedule looks like, for editors: every sensible schedule that `scheduleProblem` takes matches. Some that it refuses
 * match too, such as a range from 5 to 1 or the 30th of February. Kept to what all regular expressions have.
 */
export function schedulePattern(): string {
  const months = "jan feb mar apr may jun jul aug sep oct nov dec";
  const weekdays = "sun mon tue wed thu fri sat";
  const month = oneOf(["0*(?:[1-9]|1[0-2])", ...anyCase(months)]);
  const weekday = oneOf(["0*[0-7]", ...anyCase(weekdays)]);
  const fields = [
    field("0*[1-5]?\\d"),
    field("0*(?:1?\\d|2[0-3])"),
    field("0*(?:[1-9]|[12]\\d|3[01])", "L"),
    field(month),
    oneOf([field(weekday, `${weekday}L`), `(?:[*?]|${weekday})#0*[1-5]`]),
  ];
  return `^\\s*${oneOf([fields.join("\\s+"), ...Object.keys(shortNames)])}\\s*$`;
}

/** A list of values and ranges, with steps; `last` takes none. */
function field(value: string, ...last: readonly string[]): string {
  const range = `(?:[*?]|${value}(?:-${value})?)(?:/0*[1-9]\\d*)?`;
  const item = oneOf([range, ...last]);
  return `${item}(?:,${item})*`;
}

function oneOf(patterns: readonly string[]): string {
  return `(?:${patterns.join("|")})`;
}

/** `jan` as `[jJ][aA][nN]`: a schema's pattern has no flags. */
function anyCase(names: string): string[] {
  return names.split(" ").map((name) => name.replace(/\w/g, (c) => `[${c}${c.toUpperCase()}]`));
}
