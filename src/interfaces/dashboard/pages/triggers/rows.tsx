import { useState } from "preact/hooks";
import { stateWord, counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../../foundation/contracts/history.ts";
import { triggerWords, whyText } from "../../runs/trigger-words.ts";
import { EntryDetails } from "./details.tsx";
import { memo } from "../../kit/memo.ts";
import {
  AgentLink,
  EntryRunLink,
  Outcome,
  RunDuration,
  TriggerLabel,
} from "../../runs/run-parts.tsx";
import { joined } from "../../text/format.ts";
import { DetailsRow, Unfold, Fold } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";
import { refusalWord } from "../../../views/delivery-words.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { RefusedDeliveries } from "../../../../features/webhooks/delivery-report.ts";

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

/** Deliveries refused in the last day; hidden if there were none. */
export function Refused({ deliveries }: { readonly deliveries: readonly RefusedDeliveries[] }) {
  if (deliveries.length === 0) return null;
  return (
    <section class="panel refused" id="refused">
      <Fold summary={<span id="refused-summary">{refusedSummary(deliveries)}</span>}>
        <p class="muted">
          Nothing of them is stored but their number. Deliveries of one source within ten minutes
          are one row.
        </p>
        <ul class="claims refused-list" id="refused-list">
          {deliveries.map(({ type, source, result, count, firstAt, lastAt, reason }) => (
            <li key={[type, source, result, firstAt].join(" ")}>
              <strong>{source ?? type}</strong>
              <span class="outcome">{refusalWord(result)}</span>
              <span class="muted">
                {count === 1 ? "once" : `${count.toLocaleString("en")} times`}
              </span>
              <Time at={lastAt} />
              <span class="why">{plainText(reason)}</span>
            </li>
          ))}
        </ul>
      </Fold>
    </section>
  );
}

function refusedSummary(deliveries: readonly RefusedDeliveries[]): string {
  const numberOf = (word: string): number =>
    deliveries
      .filter(({ result }) => refusalWord(result) === word)
      .reduce((sum, { count }) => sum + count, 0);
  const [refused, duplicates] = [numberOf("refused"), numberOf("duplicate")];
  const parts = [
    refused > 0 && `${refused.toLocaleString("en")} refused`,
    duplicates > 0 && counted(duplicates, "duplicate"),
  ];
  return `Deliveries in the last day: ${joined(parts, ", ")}`;
}
