/** `Mon 23 Nov 09:00`, with the year if it is not this one. */
export function momentIn(timeZone: string, at: number): string {
  const isThisYear = yearIn(timeZone, at) === yearIn(timeZone, Date.now());
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  const day = { weekday: "short", day: "numeric", month: "short", ...year } as const;
  const clock = { hour: "2-digit", minute: "2-digit", hour12: false } as const;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, ...day, ...clock });
  return format.format(at).replaceAll(",", "");
}

function yearIn(timeZone: string, at: number): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone, year: "numeric" }).format(at);
}
