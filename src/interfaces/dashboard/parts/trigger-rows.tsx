import { useState } from "preact/hooks";
import { stateWord } from "../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { triggerWords, whyText } from "../text/trigger-words.ts";
import { EntryDetails } from "./details.tsx";
import { memo } from "./memo.ts";
import { AgentLink, EntryRunLink, Outcome, RunDuration, TriggerLabel } from "./run-parts.tsx";
import { DetailsRow, Unfold } from "./table.tsx";
import { Time } from "./time.tsx";

/** Titles of the trigger history. */
export const triggerColumns = [
  "Time",
  "Trigger",
  "Agent",
  "Outcome",
  "Duration",
  "Why",
  "(Details)",
];

interface TriggerRowsProps {
  readonly entry: HistoryEntry;
  readonly isOpenAtFirst: boolean;
}

/** The row of an entry, and the details that unfold below it. The address names the entry that was opened last. */
export const TriggerRows = memo(({ entry, isOpenAtFirst }: TriggerRowsProps) => {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const toggle = (): void => {
    setOpen(!isOpen);
    const url = new URL(location.href);
    if (!isOpen) url.searchParams.set("entry", entry.id);
    else if (url.searchParams.get("entry") === entry.id) url.searchParams.delete("entry");
    history.replaceState(null, "", url);
  };
  const words = isOpen ? "Hide" : "Details";
  return (
    <>
      <tr data-entry={entry.id}>
        <td>
          <Time at={entry.at} />
        </td>
        <td>
          <TriggerLabel {...entry} />
        </td>
        <td>
          <div class="agent-cell">
            <AgentLink agent={entry.agent} />
            <EntryRunLink {...entry} />
          </div>
        </td>
        <td>
          <Outcome entry={entry} />{" "}
          <span class="pill off" hidden={!entry.deadLetter || stateWord(entry) === "unmatched"}>
            dead letter
          </span>
        </td>
        <td>
          <RunDuration entry={entry} />
        </td>
        <td>
          <span class="why">{whyText(entry)}</span>
        </td>
        <td>
          <Unfold
            isOpen={isOpen}
            onToggle={toggle}
            label={`${words} of the ${triggerWords(entry)} of ${entry.at}`}
          >
            {words}
          </Unfold>
        </td>
      </tr>
      {isOpen && (
        <DetailsRow columns={triggerColumns.length}>
          <EntryDetails entry={entry} />
        </DetailsRow>
      )}
    </>
  );
});
