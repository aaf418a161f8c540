import { useEffect, useState } from "preact/hooks";
import type { HistoryEntry } from "../../../contracts/history.ts";
import type { ReceiptView, ReplayResult } from "../../../contracts/operator-api.ts";
import { getJson } from "./api.ts";
import type { Fetched } from "./api.ts";
import { CallsView, hasCalls } from "./calls-view.tsx";
import { compactCount, costText, exactTime } from "./format.ts";
import { Preformatted } from "./preformatted.tsx";
import { ReplayButton, Replayed } from "./replay.tsx";

/** All that is known of an entry; a webhook's stored delivery and the calls around it are read when they are shown. */
export function TriggerDetails({ entry }: { readonly entry: HistoryEntry }) {
  const { receiptId, agent } = entry;
  return (
    <div class="details">
      <dl class="entry-facts">
        {factsOf(entry).map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {receiptId !== null ? (
        <Delivery receiptId={receiptId} agent={agent} />
      ) : (
        agent !== null && <EntryReplay id={entry.id} agent={agent} />
      )}
      {hasCalls(entry) && <CallsView entry={entry} />}
    </div>
  );
}

function factsOf(entry: HistoryEntry): readonly (readonly [string, string | null])[] {
  return [
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
}

/** Runs an entry's work again, for work that no webhook delivered. */
function EntryReplay({ id, agent }: { readonly id: string; readonly agent: string }) {
  const [result, setResult] = useState<ReplayResult | null>(null);
  const path = `/api/triggers/${encodeURIComponent(id)}/replay`;
  return (
    <div class="delivery">
      <ReplayButton text={`Replay to ${agent}`} path={path} onResult={setResult} />
      {result !== null && <Replayed result={result} />}
    </div>
  );
}

function Delivery(props: { readonly receiptId: string; readonly agent: string | null }) {
  const { receiptId, agent } = props;
  const [receipt, setReceipt] = useState<Fetched<ReceiptView> | null>(null);
  const [result, setResult] = useState<ReplayResult | null>(null);
  const id = encodeURIComponent(receiptId);
  useEffect(() => void getJson<ReceiptView>(`/api/stats/webhooks/${id}`).then(setReceipt), [id]);
  const path = `/api/webhooks/${id}/replay`;
  return (
    <div class="delivery">
      <div class="panel-head">
        <h3>Delivery</h3>
        <ReplayButton text="Replay to all that match" path={path} onResult={setResult} />
        {agent !== null && (
          <ReplayButton
            text={`Replay to ${agent}`}
            path={`${path}?agent=${encodeURIComponent(agent)}`}
            onResult={setResult}
          />
        )}
      </div>
      <div>{receiptContent(receipt)}</div>
      {result !== null && <Replayed result={result} />}
    </div>
  );
}

function receiptContent(fetched: Fetched<ReceiptView> | null) {
  if (fetched === null) return "Reading it …";
  if (!fetched.ok) return <p class="muted">{fetched.detail}</p>;
  const { type, source, bytes, deliveryId, matched, headers, payload, text } = fetched.value;
  const size = bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`;
  const id = deliveryId === null ? "" : ` · delivery ${deliveryId}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <p class="muted">{`${type} · source ${source} · ${size}${id}`}</p>
      {matched.length > 0 && <p>It was for {matched.join(", ")}.</p>}
      {lines.length > 0 && (
        <details>
          <summary>Headers</summary>
          <Preformatted text={lines.join("\n")} label="Headers" />
        </details>
      )}
      <Preformatted text={text ?? JSON.stringify(payload, null, 2)} label="Payload" />
    </>
  );
}
