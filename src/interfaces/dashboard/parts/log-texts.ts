import type { useLog } from "../live/use-log.ts";
import { exactTime } from "../text/format.ts";
import { isFiltered } from "../text/log-choice.ts";

export type LogState = ReturnType<typeof useLog>;

/** Why a log page shows no lines. */
export function emptyText(log: LogState, isAgent: boolean): string {
  const { choice, isReading, isSearching, isCleared } = log;
  if (isReading || isSearching) return isFiltered(choice) ? "Searching …" : "Reading the log …";
  if (isCleared) return "Cleared. New lines appear here; the log file keeps the old ones.";
  if (isFiltered(choice)) return "No matching lines.";
  if (choice.instance !== "") {
    return "No lines of this run: it has logged nothing yet, or its log is no longer kept.";
  }
  return `No lines yet. They appear here as the ${isAgent ? "agent runs" : "scheduler works"}.`;
}

/** How far a filter has searched, or where the log begins. */
export function reachedText({
  choice,
  older,
  reachedAt,
  isReading,
  isSearching,
}: LogState): string {
  if (older !== null && !isReading) {
    const isKnown = isFiltered(choice) && reachedAt !== null;
    if (!isKnown) return "";
    return `${isSearching ? "Searching …" : "Searched"} back to ${exactTime(reachedAt)}.`;
  }
  if (isFiltered(choice)) return "No earlier match.";
  return choice.instance === "" ? "The log begins here." : "The run begins here.";
}
