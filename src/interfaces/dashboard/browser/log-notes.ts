import { byId, setText } from "./dom.ts";
import { exactTime } from "./format.ts";
import type { LogChoice } from "./log-choice.ts";
import type { LogLoader } from "./log-loader.ts";

/** What the notes around the lines depend on. */
export interface LogState {
  readonly choice: LogChoice;
  readonly isReading: boolean;
  readonly isCleared: boolean;
  /** Lines that are shown. */
  readonly count: number;
  readonly loader: Pick<LogLoader, "hasEarlier" | "reachedAt">;
}

/** Above the lines: whether there are earlier ones, and how far a filter has searched. */
export function showOlderEdge({ choice, isReading, isCleared, count, loader }: LogState): void {
  const hasEarlier = loader.hasEarlier() && !isReading;
  const isFiltered = isFilter(choice);
  byId("older-edge").hidden = isReading || (!hasEarlier && (count === 0 || isCleared));
  byId("earlier").hidden = !hasEarlier;
  setText(byId("earlier"), isFiltered ? "Search earlier lines" : "Earlier lines");
  const reached = loader.reachedAt();
  const searched = isFiltered && reached !== null ? `Searched back to ${exactTime(reached)}.` : "";
  const beginning = choice.instance === "" ? "The log begins here." : "The run begins here.";
  setText(byId("reached"), hasEarlier ? searched : isFiltered ? "No earlier match." : beginning);
}

/** In the place of the lines, when there are none. */
export function showEmpty(state: LogState): void {
  byId("log-empty").hidden = state.count > 0;
  setText(byId("log-empty"), emptyText(state));
}

function emptyText({ choice, isReading, isCleared, loader }: LogState): string {
  if (isReading) return isFilter(choice) ? "Searching …" : "Reading the log …";
  if (isCleared) return "Cleared. New lines appear here; the log file keeps the old ones.";
  if (isFilter(choice))
    return loader.hasEarlier() ? "No matching lines yet." : "No matching lines.";
  if (choice.instance === "") return byId("log-empty").dataset.text ?? "";
  return "No lines of this run: it has logged nothing yet, or its log is no longer kept.";
}

function isFilter({ q, level }: LogChoice): boolean {
  return q !== "" || level !== "";
}
