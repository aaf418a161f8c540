import type { HistoryEntry } from "../../../contracts/history.ts";
import { durationText } from "../../../contracts/format.ts";
import { Outcome, RunLink } from "./run-parts.tsx";
import { triggerWords, whyText } from "./trigger-words.ts";

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
export function CallTree(props: { readonly nodes: readonly CallNode[]; readonly current: string }) {
  const { nodes, current } = props;
  return (
    <ul class="call-tree">
      {nodes.map(({ entry, calls }) => (
        <li key={entry.id}>
          <CallLine entry={entry} isCurrent={entry.id === current} />
          {calls.length > 0 && <CallTree nodes={calls} current={current} />}
        </li>
      ))}
    </ul>
  );
}

function CallLine(props: { readonly entry: HistoryEntry; readonly isCurrent: boolean }) {
  const { entry, isCurrent } = props;
  const { agent, instanceId } = entry;
  const name = agent ?? "no agent";
  const details = callDetails(entry);
  return (
    <div class="call-line" aria-current={isCurrent ? "true" : undefined}>
      {agent === null || instanceId === null ? (
        <span>{name}</span>
      ) : (
        <RunLink agent={agent} instanceId={instanceId} text={hasRun(entry) ? instanceId : name} />
      )}
      <Outcome entry={entry} />
      {details !== "" && <span class="muted">{details}</span>}
    </div>
  );
}

function callDetails(entry: HistoryEntry): string {
  const { durationMs, kind, attempt } = entry;
  const parts = [
    durationMs === null ? "" : durationText(durationMs),
    kind === "agent-call" ? "" : `by ${triggerWords(entry)}`,
    attempt > 1 ? `attempt ${attempt}` : "",
    whyText(entry),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
