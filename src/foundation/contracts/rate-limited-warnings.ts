/**
 * Warns at most once per interval (a minute by default, in ms) about each key and adds the number suppressed, so that a
 * stranger's garbage or a host that is down for days can't fill the log. Keys must come from a small set.
 */
export function rateLimitedWarnings(
  warn: (message: string) => void,
  now: () => number,
  intervalMs = 60_000,
): (key: string, message: string) => void {
  const last = new Map<string, { at: number; kept: number }>();
  return (key, message) => {
    const before = last.get(key);
    if (before !== undefined && now() - before.at < intervalMs) {
      before.kept++;
      return;
    }
    last.set(key, { at: now(), kept: 0 });
    const kept = before?.kept ?? 0;
    warn(kept > 0 ? `${message} (and ${kept} more like it before)` : message);
  };
}
