import type { ReceiptView } from "../../../foundation/contracts/operator-api.ts";
import { Unread } from "../kit/panel.tsx";
import { Fold } from "../kit/table.tsx";
import { useDocument } from "../live/use-document.ts";
import { prettyText } from "./call-tree.ts";
import { Preformatted } from "./calls.tsx";
import { pathOf } from "../text/addresses.ts";

interface DeliveryProps {
  readonly receiptId: string;
  readonly first?: ReceiptView | null;
  /** Shown if it is no longer stored; by default why it could not be read. */
  readonly gone?: string;
}

/** A stored delivery: where it came from, its headers, its payload. It is read when it is first shown. */
export function Delivery({ receiptId, first = null, gone }: DeliveryProps) {
  const path = pathOf`/api/stats/webhooks/${receiptId}`;
  const receipt = useDocument<ReceiptView>(() => path, { value: first });
  if (receipt.value !== null) return <Receipt {...receipt.value} />;
  if (receipt.status === 404 && gone !== undefined) return <p class="muted">{gone}</p>;
  return <Unread documents={[receipt]} />;
}

function Receipt(receipt: ReceiptView) {
  const { type, source, bytes, payload, text, deliveryId, matched } = receipt;
  const size = bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`;
  const id = deliveryId === null ? "" : ` · delivery ${deliveryId}`;
  const headers = Object.entries(receipt.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div>
      <p class="muted">{`${type} · source ${source} · ${size}${id}`}</p>
      {matched.length > 0 && <p>It was for {matched.join(", ")}.</p>}
      {headers.length > 0 && (
        <Fold summary="Headers">
          <Preformatted text={headers.join("\n")} label="Headers" />
        </Fold>
      )}
      <Preformatted text={text ?? prettyText(payload)} label="Payload" />
    </div>
  );
}
