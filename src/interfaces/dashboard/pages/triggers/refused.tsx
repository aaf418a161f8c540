import type {
  RefusedDeliveries,
  RefusedDeliveriesAnswer,
} from "../../../../features/webhooks/delivery-report.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { refusalWord } from "../../../views/delivery-words.ts";
import { Fold } from "../../kit/table.tsx";
import { ListTime } from "../../kit/time.tsx";
import { joined } from "../../text/format.ts";

/** Deliveries refused in the last day; hidden if there were none. */
export function Refused({ deliveries = [] }: Partial<RefusedDeliveriesAnswer>) {
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
              <ListTime at={lastAt} />
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
