import type { UpcomingRun } from "../../../foundation/contracts/upcoming-run.ts";
import { leftOutText } from "../../../foundation/contracts/format.ts";
import { momentIn } from "../../views/moment-in.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "./render-status.ts";

/** Scheduled runs as a table in the given order, with those that calendars leave out. */
export function renderSchedule(rows: readonly UpcomingRun[], style: StatusStyle): string {
  const { colors, now } = style;
  const cells = rows.map(({ agent, schedule, at, timezone, leftOut }) => {
    const row = [
      localTime(at, now),
      agent,
      schedule,
      `${momentIn(timezone, Date.parse(at))} ${timezone}`,
    ];
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
