import { useState } from "preact/hooks";
import type { HistoryEntry } from "../../../contracts/history.ts";
import { AgentLink, LogLink, Outcome, TriggerLabel } from "./run-parts.tsx";
import { Duration, Time } from "./time.tsx";
import { TriggerDetails } from "./trigger-details.tsx";
import { runningSince, triggerWords, whyText } from "./trigger-words.ts";

const columnCount = 7;

/** One entry of the history. What unfolds below it is made when it is first asked for, and stays. */
export function TriggerRow({ entry }: { readonly entry: HistoryEntry }) {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setOpened] = useState(false);
  const toggle = (): void => {
    setOpen(!isOpen);
    setOpened(true);
  };
  return (
    <>
      <tr data-entry={entry.id}>
        <td>
          <Time side="past" at={entry.at} />
        </td>
        <td>
          <TriggerLabel entry={entry} />
        </td>
        <td>
          <div class="agent-cell">
            <AgentLink {...entry} />
            <LogLink {...entry} />
          </div>
        </td>
        <td>
          <Outcome entry={entry} /> {entry.deadLetter && <span class="pill off">dead letter</span>}
        </td>
        <td>
          <span class="number">
            <Duration ms={entry.durationMs} runningSince={runningSince(entry)} />
          </span>
        </td>
        <td>
          <span class="why">{whyText(entry)}</span>
        </td>
        <td>
          <button
            type="button"
            class="link"
            aria-label={`Details of the ${triggerWords(entry)} of ${entry.at}`}
            aria-expanded={isOpen}
            onClick={toggle}
          >
            {isOpen ? "Hide" : "Details"}
          </button>
        </td>
      </tr>
      {wasOpened && (
        <tr class="details-row" hidden={!isOpen}>
          <td colSpan={columnCount}>
            <TriggerDetails entry={entry} />
          </td>
        </tr>
      )}
    </>
  );
}
