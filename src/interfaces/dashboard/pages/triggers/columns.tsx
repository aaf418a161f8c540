import { stateWord } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../../foundation/contracts/history.ts";
import { Unfold, type Column } from "../../kit/table.tsx";
import { AgentLink, EntryTime, Outcome, RunDuration, TriggerLabel } from "../../runs/run-parts.tsx";
import { triggerWords, whyText } from "../../runs/trigger-words.ts";

/** The address names the entry that was opened last. */
export function noteOpened(entry: string, isOpen: boolean): void {
  const url = new URL(location.href);
  if (isOpen) url.searchParams.set("entry", entry);
  else if (url.searchParams.get("entry") === entry) url.searchParams.delete("entry");
  history.replaceState(null, "", url);
}

/** The trigger history. */
export const triggerColumns: readonly Column<HistoryEntry>[] = [
  ["Time", EntryTime],
  ["Trigger", TriggerLabel],
  [
    "Agent",
    (entry) => (
      <div class="agent-cell">
        <AgentLink agent={entry.agent} />
      </div>
    ),
  ],
  [
    "Outcome",
    (entry) => (
      <>
        <Outcome {...entry} />{" "}
        <span class="pill off" hidden={!entry.deadLetter || stateWord(entry) === "unmatched"}>
          not processed
        </span>
      </>
    ),
  ],
  ["Duration", RunDuration],
  ["Why", (entry) => <span class="why">{whyText(entry)}</span>],
  [
    "(Details)",
    ({ unfolding, ...entry }) => (
      <Unfold
        {...unfolding}
        words="Details"
        openWords="Hide"
        label={`of the ${triggerWords(entry)} of ${entry.at}`}
      />
    ),
  ],
];
