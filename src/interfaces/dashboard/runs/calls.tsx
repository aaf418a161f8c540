import { outcomeText } from "../../../../streams/outcomes.ts";
import { useEffect } from "preact/hooks";
import { counted } from "../../../foundation/contracts/format.ts";
import type { CallTree, HistoryEntry } from "../../../foundation/contracts/history.ts";
import { useDocument } from "../live/use-document.ts";
import { callDetails, callNodes, hasRun, parsed, prettyText } from "./call-tree.ts";
import type { CallNode } from "./call-tree.ts";
import { stateOf, lookOf } from "./trigger-words.ts";
import { Linked } from "../kit/linked.tsx";
import { RunLink } from "./run-parts.tsx";
import { Fold } from "../kit/table.tsx";
import { pathOf } from "../text/addresses.ts";

/** Limit of a shown text, in characters. */
const maxShown = 200_000;

/** A text unchanged, in a box that scrolls; `label` is its name for screen readers. */
export function Preformatted({ text, label }: { readonly text: string; readonly label: string }) {
  const isLong = text.length > maxShown;
  return (
    <pre class="payload" tabIndex={0} role="group" aria-label={label}>
      <Linked text={isLong ? `${text.slice(0, maxShown)}\n… and more` : text} />
    </pre>
  );
}

/** A shorter text is not folded. */
const unfoldedChars = 300;

function FoldedText({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <Fold summary={label} class="fold" isOpen={text.length <= unfoldedChars}>
      <Preformatted text={text} label={label} />
    </Fold>
  );
}

/** The context and the value of an entry, and the calls around it. They are read again until all have ended. */
export function Calls(entry: HistoryEntry) {
  const path = pathOf`/api/stats/triggers/${entry.id}/calls`;
  const { value, failure, refresh } = useDocument<CallTree>(() => path, { isQuiet: true });
  const isSettled = value?.entries.every(({ outcome }) => outcome !== null) === true;
  const state = JSON.stringify(entry);
  useEffect(() => {
    if (!isSettled) refresh();
  }, [state]);
  if (value === null) {
    return (
      <div class="calls">
        <p class="muted">{failure === "" ? "Reading it …" : failure}</p>
      </div>
    );
  }
  const made = value.entries.length - 1;
  return (
    <div class="calls">
      {value.context !== null && (
        <FoldedText label="Context" text={prettyText(parsed(value.context))} />
      )}
      {value.value !== null && <FoldedText label="Returned" text={prettyText(value.value)} />}
      {made > 0 && (
        <div class="tree-box">
          <h3>Calls ({counted(made, "call")})</h3>
          <CallList nodes={callNodes(value.entries)} current={entry.id} />
        </div>
      )}
    </div>
  );
}

interface CallListProps {
  readonly nodes: readonly CallNode[];
  /** The id of the entry whose tree is shown. */
  readonly current?: string;
}

/** A tree of calls as nested lists. */
export function CallList({ nodes, current = "" }: CallListProps) {
  return (
    <ul class="call-tree">
      {nodes.map(({ entry, calls }) => (
        <li key={entry.id}>
          <CallLine entry={entry} isCurrent={entry.id === current} />
          {calls.length > 0 && <CallList nodes={calls} current={current} />}
        </li>
      ))}
    </ul>
  );
}

function CallLine({
  entry,
  isCurrent,
}: {
  readonly entry: HistoryEntry;
  readonly isCurrent: boolean;
}) {
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
      <span class={`outcome ${lookOf(entry)}`}>{outcomeText(stateOf(entry))}</span>
      {details !== "" && <span class="muted">{details}</span>}
    </div>
  );
}
