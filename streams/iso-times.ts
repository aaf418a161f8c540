/** ISO 8601 UTC of epoch ms; null stays. */
export function isoTime<At extends number | null>(at: At): string | Extract<At, null> {
  return (at === null ? null : new Date(at).toISOString()) as string | Extract<At, null>;
}

/** A record of the wire as the program has it: these times are epoch ms. */
export type InMs<Wire, Times extends keyof Wire> = Readonly<
  Omit<Wire, Times> & { [Time in Times]: number | Extract<Wire[Time], null> }
>;

/** A record as the wire has it: these times are ISO 8601 UTC, and come last. */
export function isoTimes<Row extends object, Times extends keyof Row>(
  row: Row,
  ...times: readonly Times[]
): Omit<Row, Times> & { [Time in Times]: string | Extract<Row[Time], null> } {
  const fields = new Map<PropertyKey, unknown>(Object.entries(row));
  for (const time of times) {
    fields.delete(time);
    fields.set(time, isoTime(row[time] as number | null));
  }
  return Object.fromEntries(fields) as ReturnType<typeof isoTimes<Row, Times>>;
}
