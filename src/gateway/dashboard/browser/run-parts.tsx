import type { HistoryEntry } from "../../../contracts/history.ts";
import { outcomeText } from "../../../contracts/format.ts";
import { agentAddress, runAddress } from "./addresses.ts";
import { stateOf, triggerWords } from "./trigger-words.ts";

/** A link to the log of one run. `text` is the run's own name when absent. */
export function RunLink(props: {
  readonly agent: string;
  readonly instanceId: string;
  readonly text?: string;
}) {
  const { agent, instanceId, text = instanceId } = props;
  const label = text === instanceId ? undefined : `Log of the run ${instanceId}`;
  return (
    <a class="run-link" href={runAddress(agent, instanceId)} aria-label={label}>
      {text}
    </a>
  );
}

/** A link to the log of an entry's run. There is none while the entry is queued: its run has no name yet. */
export function LogLink({ agent, instanceId }: Pick<HistoryEntry, "agent" | "instanceId">) {
  return (
    <span class="run-log">
      {agent !== null && instanceId !== null && (
        <RunLink agent={agent} instanceId={instanceId} text="log" />
      )}
    </span>
  );
}

/** A link to an agent's page; a long name is cut. */
export function AgentLink({ agent }: Pick<HistoryEntry, "agent">) {
  if (agent === null) return <span class="muted">none</span>;
  return (
    <a class="cut-name" href={agentAddress(agent)} title={agent}>
      {agent}
    </a>
  );
}

/** How an entry stands or ended. */
export function Outcome({ entry }: { readonly entry: HistoryEntry }) {
  const word = stateOf(entry);
  return <span class={`outcome ${word}`}>{outcomeText(word)}</span>;
}

/** What started a run; a call leads to the run that made it. */
export function TriggerLabel({ entry }: { readonly entry: HistoryEntry }) {
  const { kind, source, caller, replayOf } = entry;
  if (kind !== "agent-call" || source === null || caller === null) {
    return <span>{triggerWords(entry)}</span>;
  }
  return (
    <span class="caller">
      agent call from <RunLink agent={source} instanceId={caller} />
      {replayOf !== null && " (replay)"}
    </span>
  );
}
