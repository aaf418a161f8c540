import type { ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import { announce, onPress, post } from "./actions.ts";
import { create, createButton } from "./dom.ts";
import { runLink } from "./run-parts.ts";

/** Buttons that run a stored delivery again; what became of it is added to `section`. */
export function replayOfDelivery(
  receiptId: string,
  agent: string | null,
  section: HTMLElement,
): readonly HTMLElement[] {
  const path = `/api/webhooks/${encodeURIComponent(receiptId)}/replay`;
  const result = create("div", "replayed");
  const button = (text: string, query: string): HTMLElement =>
    replayButton(text, path + query, result, section);
  const all = button("Replay to all that match", "");
  if (agent === null) return [all];
  return [all, button(`Replay to ${agent}`, `?agent=${encodeURIComponent(agent)}`)];
}

/** A section with a button that runs an entry's work again, for work that no webhook asked for. */
export function replayOfEntry(id: string, agent: string): HTMLElement {
  const section = create("div", "delivery");
  const result = create("div", "replayed");
  const path = `/api/triggers/${encodeURIComponent(id)}/replay`;
  section.append(replayButton(`Replay to ${agent}`, path, result, section));
  return section;
}

function replayButton(
  text: string,
  path: string,
  result: HTMLElement,
  section: HTMLElement,
): HTMLElement {
  const element = createButton("button acts", text);
  onPress(element, async () => {
    const answer = await post<ReplayResult>(path);
    if (answer === null) return;
    result.replaceChildren(...replayWords(answer));
    section.append(result);
    announce(result.textContent);
  });
  return element;
}

function replayWords({ matched, reason }: ReplayResult): readonly HTMLElement[] {
  if (matched.length === 0) {
    const why = reason ?? "no filter let it through";
    return [create("p", "", `Replayed, and no agent matched: ${why}`)];
  }
  return matched.map(({ agent, outcome, instanceId, reason: why }) => {
    const line = create("p", "", `Replayed: ${agent} ${replayOutcome(outcome)}`);
    if (why !== undefined) line.append(`: ${why}`);
    if (instanceId !== undefined) line.append(", see ", runLink(agent, instanceId, "its run"));
    return line;
  });
}

function replayOutcome(outcome: ReplayResult["matched"][number]["outcome"]): string {
  if (outcome === "started") return "was started";
  return outcome === "queued" ? "is queued" : `was ${outcomeText(outcome)}`;
}
