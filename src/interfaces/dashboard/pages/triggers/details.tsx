import { useState } from "preact/hooks";
import { dollars } from "../../../../features/spend/spend-text.ts";
import { outcomeText } from "../../../../../streams/outcomes.ts";
import type { HistoryEntry } from "../../../../foundation/contracts/history.ts";
import type { ReplayResult } from "../../../../foundation/contracts/operator-api.ts";
import { Action } from "../../kit/action.tsx";
import { post } from "../../live/api.ts";
import { announce } from "../../live/toasts.ts";
import { hasCalls } from "../../runs/call-tree.ts";
import { Calls } from "../../runs/calls.tsx";
import { Delivery } from "../../runs/delivery.tsx";
import { RunLink } from "../../runs/run-parts.tsx";
import { withQuery, pathOf } from "../../text/addresses.ts";
import { compactCount, exactTime } from "../../text/format.ts";

/** Details of an entry: its facts, its stored delivery, its replay, and the calls around it. */
export function EntryDetails(entry: HistoryEntry) {
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
      <Replay {...entry} />
      {hasCalls(entry) && <Calls {...entry} />}
    </div>
  );
}

function factsOf(entry: HistoryEntry): readonly (readonly [string, string])[] {
  const { startedAt, attempt, exitCode, tokens, costUsd } = entry;
  const facts: readonly (readonly [string, string | null])[] = [
    ["Arrived", exactTime(entry.at)],
    ["Started", startedAt === null ? null : exactTime(startedAt)],
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

/** The delivery of an entry, the buttons that run its work again, and their result. */
function Replay({ id, agent, receiptId }: HistoryEntry) {
  const [result, setResult] = useState<ReplayResult | null>(null);
  if (receiptId === null && agent === null) return null;
  const button = (to: string, path: string) => {
    const replay = async (): Promise<void> => {
      const answer = await post<ReplayResult>(path);
      if (answer === null) return;
      setResult(answer);
      announce(replayTexts(answer).join(" "));
    };
    return <Action act={replay}>Replay to {to}</Action>;
  };
  const ofDelivery = pathOf`/api/webhooks/${receiptId ?? ""}/replay`;
  return (
    <div class="delivery">
      {receiptId === null ? (
        agent !== null && button(agent, pathOf`/api/triggers/${id}/replay`)
      ) : (
        <>
          <div class="panel-head">
            <h3>Delivery</h3>
            {button("all that match", ofDelivery)}
            {agent !== null && button(agent, withQuery(ofDelivery, { agent }))}
          </div>
          <Delivery receiptId={receiptId} />
        </>
      )}
      {result !== null && (
        <div class="replayed">
          {replayTexts(result).map((text, index) => {
            const { agent = null, instanceId = null } = result.matched[index] ?? {};
            return (
              <p key={text}>
                {text}
                {instanceId !== null && ", see "}
                <RunLink agent={agent} instanceId={instanceId} text="its run" />
              </p>
            );
          })}
        </div>
      )}
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
