import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { durationText, outcomeText } from "../../../foundation/contracts/format.ts";
import { create } from "./dom.ts";
import { runLink } from "./run-parts.ts";
import { stateOf, triggerWords, whyText } from "./trigger-words.ts";

/** A call and those that its run made. */
export interface CallNode {
  readonly entry: HistoryEntry;
  readonly calls: readonly CallNode[];
}

/** The entries of a tree of calls as one: the calls of a run below it, each entry once. */
export function callNodes(entries: readonly HistoryEntry[]): readonly CallNode[] {
  // A call that was delivered to a run that waited for it has that run's instance, and yet made no calls.
  const runs = new Set(entries.filter(hasRun).map(({ instanceId }) => instanceId));
  const nodeOf = (entry: HistoryEntry): CallNode => ({
    entry,
    calls: hasRun(entry)
      ? entries.filter(({ caller }) => caller === entry.instanceId).map(nodeOf)
      : [],
  });
  return entries.filter(({ caller }) => caller === null || !runs.has(caller)).map(nodeOf);
}

function hasRun({ instanceId, startedAt }: HistoryEntry): boolean {
  return instanceId !== null && startedAt !== null;
}

/** The tree as nested lists; `current` is the id of the entry that it is shown for. */
export function callTree(nodes: readonly CallNode[], current: string): HTMLElement {
  const items = nodes.map(({ entry, calls }) =>
    create("li", "", callLine(entry, current), calls.length > 0 ? callTree(calls, current) : ""),
  );
  return create("ul", "call-tree", ...items);
}

function callLine(entry: HistoryEntry, current: string): HTMLElement {
  const { agent, instanceId } = entry;
  const name = agent ?? "no agent";
  const run =
    agent === null || instanceId === null
      ? create("span", "", name)
      : runLink(agent, instanceId, hasRun(entry) ? instanceId : name);
  const word = stateOf(entry);
  const details = callDetails(entry);
  const line = create(
    "div",
    "call-line",
    run,
    create("span", `outcome ${word}`, outcomeText(word)),
    details === "" ? "" : create("span", "muted", details),
  );
  if (entry.id === current) line.setAttribute("aria-current", "true");
  return line;
}

function callDetails(entry: HistoryEntry): string {
  const { durationMs, kind, attempt } = entry;
  const parts = [
    durationMs === null ? "" : durationText(durationMs),
    kind === "agent-call" ? "" : triggerWords(entry),
    attempt > 1 ? `attempt ${attempt}` : "",
    whyText(entry),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
