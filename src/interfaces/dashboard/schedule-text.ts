import cronstrue from "cronstrue";

/** A cron expression in words, `At 09:00, Monday through Friday`; null without one, or for one that has none. */
export function scheduleText(expression: string | null): string | null {
  if (expression === null) return null;
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true });
  } catch {
    // Another parser accepted the schedule, and may know more.
    return null;
  }
}
