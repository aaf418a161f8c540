import type { HistoryEntry } from "../../../contracts/history.ts";
import type { ReceiptView, ReplayResult } from "../../../contracts/operator-api.ts";
import { announce, onPress, post } from "./actions.ts";
import { getJson } from "./api.ts";
import { create } from "./dom.ts";
import type { PageElement } from "./dom.ts";
import { compactCount, costText, exactTime, outcomeText } from "./format.ts";

/** A payload longer than this is cut where it is shown, characters. */
const maxShown = 200_000;

/** All that is known of an entry; a webhook's stored delivery is read when this is made. */
export function triggerDetails(entry: HistoryEntry): PageElement {
  const box = create("div", "details");
  box.append(facts(entry));
  if (entry.receiptId !== null) box.append(delivery(entry.receiptId, entry.agent));
  return box;
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
    ["Source", entry.source],
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

function preformatted(text: string, label: string): PageElement {
  const isLong = text.length > maxShown;
  const shown = isLong ? `${text.slice(0, maxShown)}\n… and more` : text;
  const block = create("pre", "payload", shown);
  block.setAttribute("tabindex", "0");
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", label);
  return block;
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
      const link = create("a", "", "its log");
      link.href = `/dashboard/agents/${encodeURIComponent(agent)}/logs?instance=${encodeURIComponent(instanceId)}`;
      line.append(", see ", link);
    }
    return line;
  });
}

function replayOutcome(outcome: ReplayResult["matched"][number]["outcome"]): string {
  if (outcome === "started") return "was started";
  return outcome === "queued" ? "is queued" : `was ${outcomeText(outcome)}`;
}
