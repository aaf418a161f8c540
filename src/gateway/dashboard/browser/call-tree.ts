import type { HistoryEntry } from "../../../contracts/history.ts";
import { durationText, outcomeText } from "../../../contracts/format.ts";
import { create } from "./dom.ts";
import { runLink } from "./run-link.ts";
import { triggerWords } from "./trigger-label.ts";
import { stateOf, whyText } from "./trigger-words.ts";

/** A call and those that its run made. */
export interface CallNode {
  readonly entry: HistoryEntry;
  readonly calls: readonly CallNode[];
}

/** The entries of a tree of calls as one: the calls of a run below it, each entry once. */
export function callNodes(entries: readonly HistoryEntry[]): readonly CallNode[] {
  // A call that was given to a run that waited for it has its instance, and yet made no calls: it never started.
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
export function callTree(entries: readonly HistoryEntry[], current: string): HTMLElement {
  return listOf(callNodes(entries), current);
}

function listOf(nodes: readonly CallNode[], current: string): HTMLElement {
  const list = create("ul", "call-tree");
  for (const { entry, calls } of nodes) {
    const item = create("li");
    item.append(callLine(entry, current));
    if (calls.length > 0) item.append(listOf(calls, current));
    list.append(item);
  }
  return list;
}

function callLine(entry: HistoryEntry, current: string): HTMLElement {
  const { agent, instanceId } = entry;
  const line = create("div", "call-line");
  if (entry.id === current) line.setAttribute("aria-current", "true");
  const name = agent ?? "no agent";
  line.append(
    agent === null || instanceId === null
      ? create("span", "", name)
      : runLink(agent, instanceId, hasRun(entry) ? instanceId : name),
  );
  const word = stateOf(entry);
  line.append(create("span", `outcome ${word}`, outcomeText(word)));
  const facts = callFacts(entry);
  if (facts.length > 0) line.append(create("span", "muted", facts.join(" · ")));
  return line;
}

function callFacts(entry: HistoryEntry): readonly string[] {
  const { durationMs, kind, attempt } = entry;
  const why = whyText(entry);
  return [
    ...(durationMs === null ? [] : [durationText(durationMs)]),
    ...(kind === "agent-call" ? [] : [`by ${triggerWords(entry)}`]),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(why === "" ? [] : [why]),
  ];
}
