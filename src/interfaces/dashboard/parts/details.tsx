import { outcomeText } from "../../../../streams/outcomes.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { dollars } from "../../../features/spend/spend-text.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import type { ReceiptView, ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import { post } from "../live/api.ts";
import { announce } from "../live/toasts.ts";
import { useDocument } from "../live/use-document.ts";
import { hasCalls, prettyText } from "../text/calls.ts";
import { compactCount, exactTime } from "../text/format.ts";
import { Action } from "./action.tsx";
import { Calls, Preformatted } from "./calls.tsx";
import { Unread } from "./panel.tsx";
import { RunLink } from "./run-parts.tsx";
import { Fold } from "./table.tsx";

/** Details of an entry: its facts, its stored delivery, its replay, and the calls around it. */
export function EntryDetails({ entry }: { readonly entry: HistoryEntry }) {
  const { id, agent, receiptId } = entry;
  return (
    <div class="details">
      <dl class="entry-facts">
        {factsOf(entry).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {receiptId !== null && <Delivery receiptId={receiptId} agent={agent} canReplay />}
      {receiptId === null && agent !== null && (
        <div class="delivery">
          <Replay
            paths={{ [`Replay to ${agent}`]: `/api/triggers/${encodeURIComponent(id)}/replay` }}
          >
            {null}
          </Replay>
        </div>
      )}
      {hasCalls(entry) && <Calls entry={entry} />}
    </div>
  );
}

function factsOf(entry: HistoryEntry): readonly (readonly [string, string])[] {
  const { startedAt, attempt, exitCode, tokens, costUsd } = entry;
  const facts: readonly (readonly [string, string | null])[] = [
    ["Arrived", exactTime(Date.parse(entry.at))],
    ["Started", startedAt === null ? null : exactTime(Date.parse(startedAt))],
    ["Run", entry.instanceId],
    ["Attempt", attempt > 1 ? String(attempt) : null],
    ["Exit code", exitCode === null ? null : String(exitCode)],
    ["Model", entry.model],
    ["Tokens", tokens === null ? null : compactCount(tokens)],
    ["Cost", costUsd === null ? null : dollars(costUsd)],
    [entry.kind === "agent-call" ? "Called by" : "Source", entry.caller ?? entry.source],
    ["Call", entry.callId],
    ["Receipt", entry.receiptId],
    ["Replay of", entry.replayOf],
    ["Entry", entry.id],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

interface DeliveryProps {
  readonly receiptId: string;
  readonly first?: ReceiptView | null;
  readonly agent?: string | null;
  /** Whether the entry can be replayed here. */
  readonly canReplay?: boolean;
}

/** A stored delivery: where it came from, its headers, its payload. It is read when it is first shown. */
export function Delivery(props: DeliveryProps) {
  const { receiptId, first = null, agent = null, canReplay = false } = props;
  const path = `/api/stats/webhooks/${encodeURIComponent(receiptId)}`;
  const receipt = useDocument<ReceiptView>(() => path, { first });
  const { value, status } = receipt;
  const replay = `/api/webhooks/${encodeURIComponent(receiptId)}/replay`;
  const paths = {
    "Replay to all that match": replay,
    ...(agent === null
      ? {}
      : { [`Replay to ${agent}`]: `${replay}?agent=${encodeURIComponent(agent)}` }),
  };
  const isGone = status === 404 && !canReplay;
  const gone = <p class="muted">Its delivery is no longer stored.</p>;
  const none = isGone ? gone : <Unread documents={[receipt]} />;
  const content = value === null ? none : <Receipt receipt={value} />;
  if (!canReplay) return <div class="delivery">{content}</div>;
  return (
    <div class="delivery">
      <Replay paths={paths} title="Delivery">
        {content}
      </Replay>
    </div>
  );
}

function Receipt({ receipt }: { readonly receipt: ReceiptView }) {
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

interface ReplayProps {
  /** Words of the buttons, each with the path that it requests. */
  readonly paths: Readonly<Record<string, string>>;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** Buttons that run work again, with their result below the content. */
function Replay({ paths, title, children }: ReplayProps) {
  const [result, setResult] = useState<ReplayResult | null>(null);
  const replay = async (path: string): Promise<void> => {
    const answer = await post<ReplayResult>(path);
    if (answer === null) return;
    setResult(answer);
    announce(replayTexts(answer).join(" "));
  };
  const buttons = Object.entries(paths).map(([words, path]) => (
    <Action act={() => replay(path)} key={words}>
      {words}
    </Action>
  ));
  return (
    <>
      {title === undefined ? (
        buttons
      ) : (
        <div class="panel-head">
          <h3>{title}</h3>
          {buttons}
        </div>
      )}
      {children}
      {result !== null && <ReplayLines result={result} />}
    </>
  );
}

function ReplayLines({ result }: { readonly result: ReplayResult }) {
  const texts = replayTexts(result);
  return (
    <div class="replayed">
      {texts.map((text, index) => {
        const { agent, instanceId } = result.matched[index] ?? {};
        return (
          <p key={text}>
            {text}
            {agent !== undefined && instanceId !== undefined && (
              <>
                , see <RunLink agent={agent} instanceId={instanceId} text="its run" />
              </>
            )}
          </p>
        );
      })}
    </div>
  );
}

function replayTexts({ matched, reason }: ReplayResult): readonly string[] {
  if (matched.length === 0) {
    return [`Replayed, and no agent matched: ${reason ?? "no filter let it through"}`];
  }
  return matched.map(({ agent, outcome, reason: why }) => {
    const isQueued = outcome === "queued";
    const became = isQueued ? "is queued" : `was ${outcomeText(outcome)}`;
    return `Replayed: ${agent} ${became}${why === undefined ? "" : `: ${why}`}`;
  });
}
