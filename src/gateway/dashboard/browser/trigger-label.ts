import type { HistoryEntry } from "../../../contracts/history.ts";
import { create } from "./dom.ts";
import { runLink } from "./run-link.ts";

const startWords: Readonly<Record<HistoryEntry["kind"], string>> = {
  cron: "schedule",
  webhook: "webhook",
  "agent-call": "agent call",
  manual: "hand",
};

/** What started a run, in few words: `webhook issues opened`. */
export function triggerWords({ kind, source, event, action, replayOf }: HistoryEntry): string {
  const details =
    kind === "webhook"
      ? [event, action]
      : kind === "agent-call" && source !== null
        ? [`from ${source}`]
        : [];
  const words = [startWords[kind], ...details, replayOf === null ? null : "(replay)"];
  return words.filter((word) => word !== null).join(" ");
}

/** The same as an element; a call leads to the run that made it. */
export function triggerLabel(entry: HistoryEntry): HTMLElement {
  const { source, caller } = entry;
  if (entry.kind !== "agent-call" || source === null || caller === null) {
    return create("span", "", triggerWords(entry));
  }
  const label = create("span", "caller");
  label.append("agent call from ", runLink(source, caller));
  if (entry.replayOf !== null) label.append(" (replay)");
  return label;
}
