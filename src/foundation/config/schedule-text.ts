import cronstrue from "cronstrue";

/** A cron expression in words, `At 09:00, Monday through Friday`; null without one, or if it can't be described. */
export function scheduleText(expression: string | null): string | null {
  if (expression === null) return null;
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true });
  } catch {
    // Another parser accepted the schedule, and may know more.
    return null;
  }
}
