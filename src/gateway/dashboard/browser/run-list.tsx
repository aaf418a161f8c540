import { useState } from "preact/hooks";
import type { HistoryEntry } from "../../../contracts/history.ts";
import { counted } from "../../../contracts/format.ts";
import { post } from "./actions.ts";
import { ConfirmButton } from "./buttons.tsx";
import { CallsView, hasCalls } from "./calls-view.tsx";
import { compactCount, costText } from "./format.ts";
import { LogLink, Outcome, TriggerLabel } from "./run-parts.tsx";
import { Duration, Time } from "./time.tsx";
import { runningSince, stateOf, whyText } from "./trigger-words.ts";

/** The latest first, by the time that is shown of a run: its start, or its arrival while it is queued. */
export function byStart(runs: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const shown = ({ startedAt, at }: HistoryEntry): number => Date.parse(startedAt ?? at);
  return [...runs].sort((a, b) => shown(b) - shown(a));
}

/** Columns of the table. */
const runColumns = 7;

/** A run of an agent's table, and what unfolds below one that called others, was called, or returned something. */
export function RunRow({ run }: { readonly run: HistoryEntry }) {
  const [isOpen, setOpen] = useState(false);
  const { tokens, costUsd } = run;
  return (
    <>
      <tr>
        <td>
          <Time side="past" at={run.startedAt ?? run.at} />
        </td>
        <td>
          <TriggerLabel entry={run} />
          {hasCalls(run) && (
            <CallsButton run={run} isOpen={isOpen} toggle={() => setOpen(!isOpen)} />
          )}
        </td>
        <td>
          <Outcome entry={run} />
          <div class="sub">{whyText(run)}</div>
        </td>
        <td>
          <span>
            <Duration ms={run.durationMs} runningSince={runningSince(run)} />
          </span>
        </td>
        <td class="number">{tokens === null ? "–" : compactCount(tokens)}</td>
        <td class="number">{costUsd === null ? "–" : costText(costUsd)}</td>
        <td class="run-actions">
          <LogLink {...run} />
          {stateOf(run) === "running" && <KillButton instanceId={run.instanceId ?? ""} />}
        </td>
      </tr>
      {isOpen && (
        <tr class="details-row">
          <td colSpan={runColumns}>
            <CallsView entry={run} />
          </td>
        </tr>
      )}
    </>
  );
}

function CallsButton(props: {
  readonly run: HistoryEntry;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}) {
  const { run, isOpen, toggle } = props;
  const { calls, value, instanceId } = run;
  const what = calls > 0 ? counted(calls, "call") : value === null ? "call" : "value";
  return (
    <button
      type="button"
      class="link run-calls"
      aria-expanded={isOpen}
      aria-label={`${what} of the run ${instanceId ?? ""}`}
      onClick={toggle}
    >
      {what}
    </button>
  );
}

function KillButton({ instanceId }: { readonly instanceId: string }) {
  return (
    <ConfirmButton
      class="link danger"
      label={`Kill the run ${instanceId}`}
      question="Really kill it?"
      onPress={() => post(`/control/kill/${encodeURIComponent(instanceId)}`)}
    >
      Kill
    </ConfirmButton>
  );
}
