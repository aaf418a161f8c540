import { counted } from "../../foundation/contracts/format.ts";
import type { UpcomingRun } from "../../foundation/contracts/upcoming-run.ts";

/** What calendars leave out, and why; `until` is its end for the reader. */
export function leftOutText(
  { why, count }: NonNullable<UpcomingRun["leftOut"]>,
  until: string,
): string {
  return `${counted(count, "run")} until ${until}, by ${why}`;
}
