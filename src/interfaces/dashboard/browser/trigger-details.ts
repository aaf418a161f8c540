import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import type { ReceiptView } from "../../../foundation/contracts/operator-api.ts";
import { fetchJson } from "./api.ts";
import { createCallsView, hasCalls, preformatted } from "./calls-view.ts";
import type { CallsView } from "./calls-view.ts";
import { create } from "./dom.ts";
import { compactCount, costText, exactTime } from "./format.ts";
import { replayOfDelivery, replayOfEntry } from "./replay-buttons.ts";

/** All that is known of an entry. */
export interface TriggerDetails {
  readonly element: HTMLElement;
  /** The entry as it is now. */
  show(entry: HistoryEntry): void;
}

/** Makes them; a webhook's stored delivery and the calls around the entry are read when they are made. */
export function createTriggerDetails(entry: HistoryEntry): TriggerDetails {
  let shownFacts = facts(entry);
  let calls: CallsView | null = null;
  const element = create("div", "details", shownFacts);
  if (entry.receiptId !== null) element.append(delivery(entry.receiptId, entry.agent));
  else if (entry.agent !== null) element.append(replayOfEntry(entry.id, entry.agent));
  const show = (now: HistoryEntry): void => {
    const newFacts = facts(now);
    if (newFacts.textContent !== shownFacts.textContent) {
      shownFacts.replaceWith(newFacts);
      shownFacts = newFacts;
    }
    if (!hasCalls(now)) return;
    if (calls === null) {
      calls = createCallsView(now);
      element.append(calls.element);
    } else {
      calls.show(now);
    }
  };
  show(entry);
  return { element, show };
}

function facts(entry: HistoryEntry): HTMLElement {
  const shown: readonly (readonly [string, string | null])[] = [
    ["Arrived", exactTime(Date.parse(entry.at))],
    ["Started", entry.startedAt === null ? null : exactTime(Date.parse(entry.startedAt))],
    ["Run", entry.instanceId],
    ["Attempt", entry.attempt > 1 ? String(entry.attempt) : null],
    ["Exit code", entry.exitCode === null ? null : String(entry.exitCode)],
    ["Model", entry.model],
    ["Tokens", entry.tokens === null ? null : compactCount(entry.tokens)],
    ["Cost", entry.costUsd === null ? null : costText(entry.costUsd)],
    [entry.kind === "agent-call" ? "Called by" : "Source", entry.caller ?? entry.source],
    ["Call", entry.callId],
    ["Receipt", entry.receiptId],
    ["Replay of", entry.replayOf],
    ["Entry", entry.id],
  ];
  const items = shown.flatMap(([name, value]) =>
    value === null ? [] : [create("div", "", create("dt", "", name), create("dd", "", value))],
  );
  return create("dl", "entry-facts", ...items);
}

function delivery(receiptId: string, agent: string | null): HTMLElement {
  const section = create("div", "delivery");
  const buttons = replayOfDelivery(receiptId, agent, section);
  const body = create("div", "", "Reading it …");
  section.append(create("div", "panel-head", create("h3", "", "Delivery"), ...buttons), body);
  void fetchJson<ReceiptView>(`/api/stats/webhooks/${encodeURIComponent(receiptId)}`).then(
    (fetched) => {
      if (fetched.ok) body.replaceChildren(...receiptParts(fetched.value));
      else body.replaceChildren(create("p", "muted", fetched.detail));
    },
  );
  return section;
}

/** A stored delivery: where it came from, its headers, its payload. */
export function receiptParts(receipt: ReceiptView): readonly HTMLElement[] {
  const { type, source, bytes, payload, text } = receipt;
  const size = bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`;
  const id = receipt.deliveryId === null ? "" : ` · delivery ${receipt.deliveryId}`;
  const headers = Object.entries(receipt.headers).map(([name, value]) => `${name}: ${value}`);
  const parts: HTMLElement[] = [create("p", "muted", `${type} · source ${source} · ${size}${id}`)];
  const { matched } = receipt;
  if (matched.length > 0) parts.push(create("p", "", `It was for ${matched.join(", ")}.`));
  if (headers.length > 0) {
    const text = preformatted(headers.join("\n"), "Headers");
    parts.push(create("details", "", create("summary", "", "Headers"), text));
  }
  parts.push(preformatted(text ?? JSON.stringify(payload, null, 2), "Payload"));
  return parts;
}
