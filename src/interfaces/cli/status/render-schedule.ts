import type { UpcomingRun } from "../../../foundation/contracts/upcoming-run.ts";
import { leftOutText } from "../../views/left-out-text.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "./render-status.ts";

/** Scheduled runs as a table in the given order, with those that calendars leave out. */
export function renderSchedule(rows: readonly UpcomingRun[], style: StatusStyle): string {
  const { colors, now } = style;
  const cells = rows.map(({ agent, schedule, at, timezone, leftOut }) => {
    const row = [localTime(at, now), agent, schedule, zonedTime(at, timezone)];
    if (leftOut === null) return row;
    const text = leftOutText(leftOut, localTime(leftOut.until, now));
    return [...row, plainLine(text)].map((cell) => colors.dim(cell));
  });
  return renderTable(
    titled("When", "Agent", "Schedule", "In its time zone", "Left out…"),
    cells,
    style,
  );
}

/** `Mon 23 Nov 09:00 Europe/Berlin` */
function zonedTime(at: string, timeZone: string): string {
  const day = { weekday: "short", day: "numeric", month: "short" } as const;
  const clock = { hour: "2-digit", minute: "2-digit", hour12: false } as const;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...day, ...clock });
  return `${format.format(new Date(at)).replaceAll(",", "")} ${timeZone}`;
}
