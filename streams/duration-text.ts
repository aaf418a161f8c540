const second = 1000;

/** A duration with about two significant digits: `400 ms`, `1.2 s`, `3 min 05 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min${rest(seconds % 60, "s")}`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h${rest(minutes % 60, "min")}`;
}

function rest(value: number, unit: string): string {
  return value === 0 ? "" : ` ${String(value).padStart(2, "0")} ${unit}`;
}
