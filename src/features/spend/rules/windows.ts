import { momentsOf, shownAt } from "../../../../streams/wall-time.ts";

/** A calendar day or month of a time zone. */
export interface CalendarWindow {
  readonly kind: "day" | "month";
  /** `2026-11-22` or `2026-11`. */
  readonly key: string;
  /** The first moment that is not in it, epoch ms. */
  readonly endsAt: number;
}

/** The windows that a moment is in. */
export interface CurrentWindows {
  readonly day: CalendarWindow;
  readonly month: CalendarWindow;
}

/**
 * The calendar day and month of a moment (epoch ms) in a time zone (IANA name). A day begins with its first moment:
 * at one o'clock where the clock skips midnight, and one that is shown twice is one day.
 */
export function windowsAt(moment: number, timezone: string): CurrentWindows {
  const shown = new Date(shownAt(moment, timezone));
  const [year, month, day] = [shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate()];
  const date = shown.toISOString().slice(0, "2026-11-22".length);
  const begins = (wall: number): number => momentsOf(wall, timezone).first;
  return {
    day: { kind: "day", key: date, endsAt: begins(Date.UTC(year, month, day + 1)) },
    month: {
      kind: "month",
      key: date.slice(0, "2026-11".length),
      endsAt: begins(Date.UTC(year, month + 1, 1)),
    },
  };
}

/** `windowsAt`, which remembers the latest answer: each call to a model asks. */
export function createCalendar(): typeof windowsAt {
  let known: { timezone: string; from: number; windows: CurrentWindows } | null = null;
  return (moment, timezone) => {
    const isKnown =
      known?.timezone === timezone && known.from <= moment && moment < known.windows.day.endsAt;
    if (!isKnown || known === null) {
      known = { timezone, from: moment, windows: windowsAt(moment, timezone) };
    }
    return known.windows;
  };
}
