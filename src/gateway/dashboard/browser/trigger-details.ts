import type { HistoryEntry } from "../../../contracts/history.ts";
import type { ReceiptView, ReplayResult } from "../../../contracts/operator-api.ts";
import { announce, onPress, post } from "./actions.ts";
import { getJson } from "./api.ts";
import { createCallsView, hasCalls } from "./calls-view.ts";
import type { CallsView } from "./calls-view.ts";
import { create } from "./dom.ts";
import type { PageElement } from "./dom.ts";
import { compactCount, costText, exactTime, outcomeText } from "./format.ts";
import { preformatted } from "./preformatted.ts";
import { runLink } from "./run-link.ts";

/** All that is known of an entry. */
export interface TriggerDetails {
  readonly element: PageElement;
  /** The entry as it is now. */
  show(entry: HistoryEntry): void;
}

/** Makes them; a webhook's stored delivery and the calls around the entry are read when they are made. */
export function createTriggerDetails(entry: HistoryEntry): TriggerDetails {
  const element = create("div", "details");
  let shownFacts = facts(entry);
  let calls: CallsView | null = null;
  element.append(shownFacts);
  if (entry.receiptId !== null) element.append(delivery(entry.receiptId, entry.agent));
  const show = (now: HistoryEntry): void => {
    const newFacts = facts(now);
    if (newFacts.textContent !== shownFacts.textContent) {
      shownFacts.before(newFacts);
      shownFacts.remove();
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

function facts(entry: HistoryEntry): PageElement {
  const list = create("dl", "entry-facts");
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
    ["Entry", entry.id],
  ];
  for (const [name, value] of shown) {
    if (value === null) continue;
    const fact = create("div");
    fact.append(create("dt", "", name), create("dd", "", value));
    list.append(fact);
  }
  return list;
}

function delivery(receiptId: string, agent: string | null): PageElement {
  const section = create("div", "delivery");
  const head = create("div", "panel-head");
  head.append(create("h3", "", "Delivery"), ...replayButtons(receiptId, agent, section));
  const body = create("div", "", "Reading it …");
  section.append(head, body);
  void getJson<ReceiptView>(`/api/stats/webhooks/${encodeURIComponent(receiptId)}`).then(
    (fetched) => {
      if (fetched.ok) body.replaceChildren(...receiptParts(fetched.value));
      else body.replaceChildren(create("p", "muted", fetched.detail));
    },
  );
  return section;
}

function receiptParts(receipt: ReceiptView): readonly PageElement[] {
  const { type, source, bytes, payload, text } = receipt;
  const size = bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KiB`;
  const id = receipt.deliveryId === null ? "" : ` · delivery ${receipt.deliveryId}`;
  const headers = Object.entries(receipt.headers).map(([name, value]) => `${name}: ${value}`);
  const parts = [create("p", "muted", `${type} · source ${source} · ${size}${id}`)];
  const { matched } = receipt;
  if (matched.length > 0) parts.push(create("p", "", `It was for ${matched.join(", ")}.`));
  if (headers.length > 0) {
    const fold = create("details");
    fold.append(create("summary", "", "Headers"), preformatted(headers.join("\n"), "Headers"));
    parts.push(fold);
  }
  parts.push(preformatted(text ?? JSON.stringify(payload, null, 2), "Payload"));
  return parts;
}

function replayButtons(
  receiptId: string,
  agent: string | null,
  section: PageElement,
): readonly PageElement[] {
  const path = `/api/webhooks/${encodeURIComponent(receiptId)}/replay`;
  const result = create("div", "replayed");
  const button = (text: string, query: string): PageElement => {
    const element = create("button", "button acts", text);
    element.setAttribute("type", "button");
    onPress(element, async () => {
      const answer = await post<ReplayResult>(path + query);
      if (answer === null) return;
      result.replaceChildren(...replayWords(answer));
      section.append(result);
      announce(result.textContent);
    });
    return element;
  };
  const all = button("Replay to all that match", "");
  if (agent === null) return [all];
  return [all, button(`Replay to ${agent}`, `?agent=${encodeURIComponent(agent)}`)];
}

function replayWords({ matched, reason }: ReplayResult): readonly PageElement[] {
  if (matched.length === 0) {
    return [
      create("p", "", `Replayed, and no agent matched: ${reason ?? "no filter let it through"}`),
    ];
  }
  return matched.map(({ agent, outcome, instanceId, reason: why }) => {
    const line = create("p", "", `Replayed: ${agent} ${replayOutcome(outcome)}`);
    if (why !== undefined) line.append(`: ${why}`);
    if (instanceId !== undefined) {
      line.append(", see ", runLink(agent, instanceId, "its log"));
    }
    return line;
  });
}

function replayOutcome(outcome: ReplayResult["matched"][number]["outcome"]): string {
  if (outcome === "started") return "was started";
  return outcome === "queued" ? "is queued" : `was ${outcomeText(outcome)}`;
}
