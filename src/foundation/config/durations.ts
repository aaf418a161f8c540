const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const minMs = unitsMs.m;
const maxMs = 365 * unitsMs.d;

/** The ms of "90s", "24h" or "7d"; null for "never"; undefined for text that is neither, or out of range. */
export function parseDuration(text: string): number | null | undefined {
  if (text === "never") return null;
  const [, count = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (new Map<string, number>(Object.entries(unitsMs)).get(unit) ?? 0);
  return ms >= minMs && ms <= maxMs ? ms : undefined;
}

/** The text that a file would hold, in the largest unit that leaves a whole number; of a day, in hours. */
export function writtenDuration(ms: number | null): string {
  if (ms === null) return "never";
  if (ms > unitsMs.d && ms % unitsMs.d === 0) return `${ms / unitsMs.d}d`;
  for (const unit of ["h", "m"] as const) {
    if (ms % unitsMs[unit] === 0) return `${ms / unitsMs[unit]}${unit}`;
  }
  return `${ms / unitsMs.s}s`;
}
