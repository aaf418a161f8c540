import type { HistoryEntry } from "../../foundation/contracts/history.ts";

const onTimeMs = 60_000;

/** When a run of a schedule was due whose entry is from later; null if it is from then, and for other entries. */
export function lateDue({
  at,
  scheduledFor,
}: Pick<HistoryEntry, "at" | "scheduledFor">): string | null {
  if (scheduledFor === undefined) return null;
  return Date.parse(at) - Date.parse(scheduledFor) > onTimeMs ? scheduledFor : null;
}
