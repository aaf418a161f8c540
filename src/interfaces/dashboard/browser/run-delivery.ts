import type { ReceiptView } from "../../../foundation/contracts/operator-api.ts";
import { fetchJson } from "./api.ts";
import { create } from "./dom.ts";
import { receiptParts } from "./trigger-details.ts";

/** Deliveries that were read: they don't change. */
const read = new Map<string, HTMLElement>();

/** The stored delivery that started a run; filled once it is read. */
export function deliveryOf(receiptId: string): HTMLElement {
  const known = read.get(receiptId);
  if (known !== undefined) return known;
  const element = create("div", "delivery", create("p", "muted", "Reading the delivery …"));
  read.set(receiptId, element);
  const path = `/api/stats/webhooks/${encodeURIComponent(receiptId)}`;
  void fetchJson<ReceiptView>(path).then((fetched) => {
    const note = (text: string) => create("p", "muted", text);
    if (fetched.ok) return element.replaceChildren(...receiptParts(fetched.value));
    const isGone = fetched.status === 404;
    element.replaceChildren(note(isGone ? "Its delivery is no longer stored." : fetched.detail));
    // Another look may have more luck.
    if (!isGone) read.delete(receiptId);
  });
  return element;
}
