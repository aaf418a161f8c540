import { useState } from "preact/hooks";
import { dollars } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry, HistoryPage } from "../../../../foundation/contracts/history.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { useAgentDocument } from "../../live/agents.ts";
import { post } from "../../live/api.ts";
import { changesAddress, triggersAddress, runsPath } from "../../text/addresses.ts";
import { hasCalls, valueLine } from "../../runs/call-tree.ts";
import { compactCount } from "../../text/format.ts";
import { runningSince, whyText } from "../../runs/trigger-words.ts";
import { Action } from "../../kit/action.tsx";
import { Calls } from "../../runs/calls.tsx";
import { memo } from "../../kit/memo.ts";
import { Panel } from "../../kit/panel.tsx";
import { RunCharts } from "./charts.tsx";
import { EntryRunLink, Outcome, RunDuration, TriggerLabel } from "../../runs/run-parts.tsx";
import { DetailsRow, Table, Unfold } from "../../kit/table.tsx";
import { ListTime } from "../../kit/time.tsx";

const columns = ["Started", "Trigger", "Outcome", "Duration", "Tokens", "Cost", "Run"];

const shownRuns = 10;

interface RunsProps {
  readonly agent: string;
  readonly first: HistoryPage | null | undefined;
}

/** The panel with the last runs of an agent, as charts and as a table. */
export function Runs({ agent, first }: RunsProps) {
  const { value } = useAgentDocument(agent, { first, path: () => runsPath(agent) });
  const runs = (value?.triggers ?? []).toSorted((a, b) => shownTime(b) - shownTime(a));
  return (
    <Panel
      id="last-runs"
      title="Last runs"
      after={
        <a class="after" href={triggersAddress(agent)}>
          View full history
        </a>
      }
    >
      <RunCharts newestFirst={runs} />
      <Table
        columns={columns}
        class="compact"
        id="runs"
        rowsId="run-rows"
        hidden={runs.length === 0}
      >
        {runs.slice(0, shownRuns).map((run, index) => (
          <RunRows run={run} changedSince={changedSince(run, runs.slice(index + 1))} key={run.id} />
        ))}
      </Table>
      <p class="muted note" id="runs-empty" hidden={value?.triggers.length !== 0}>
        No runs yet.
      </p>
    </Panel>
  );
}

/** The time that is shown of a run: its start, or its arrival while it is queued. */
function shownTime({ startedAt, at }: HistoryEntry): number {
  return Date.parse(startedAt ?? at);
}

/** The run before a run, if it ran another version; null if it ran the same, or is not in the list. */
function changedSince(run: HistoryEntry, earlier: readonly HistoryEntry[]): string | null {
  const before = earlier.find(({ version, instanceId }) => version !== null && instanceId !== null);
  if (run.version === null || run.instanceId === null || before === undefined) return null;
  return before.version === run.version ? null : before.instanceId;
}

interface RunRowsProps {
  readonly run: HistoryEntry;
  readonly changedSince: string | null;
}

/** The row of a run, and the calls that unfold below it. */
const RunRows = memo(({ run, changedSince: before }: RunRowsProps) => {
  const [isOpen, setOpen] = useState(false);
  const { agent, instanceId, calls, value, tokens, costUsd } = run;
  const words = calls > 0 ? counted(calls, "call") : value === null ? "call" : "value";
  return (
    <>
      <tr>
        <td>
          <ListTime at={run.startedAt ?? run.at} />
        </td>
        <td>
          <TriggerLabel {...run} />
          <Unfold
            class="link run-calls"
            isOpen={isOpen}
            onToggle={() => setOpen(!isOpen)}
            label={`${words} of the run ${instanceId ?? ""}`}
            hidden={!hasCalls(run)}
          >
            {words}
          </Unfold>
          {agent !== null && instanceId !== null && before !== null && (
            <a
              class="change-mark"
              href={changesAddress(agent, instanceId, before)}
              title={`Config or instructions changed since the run before it, ${before}. Shows what changed.`}
              aria-label={`What changed before the run ${instanceId}`}
            >
              changed
            </a>
          )}
        </td>
        <td>
          <Outcome entry={run} />
          <div class="sub run-why">{whyText(run)}</div>
          <div class="sub run-result">{resultText(run)}</div>
        </td>
        <td>
          <RunDuration entry={run} />
        </td>
        <td class="number">{tokens === null ? "–" : compactCount(tokens)}</td>
        <td class="number">{costUsd === null ? "–" : dollars(costUsd)}</td>
        <td class="run-actions">
          <EntryRunLink {...run} />
          <Action
            class="link danger"
            act={() => post(`/control/kill/${encodeURIComponent(instanceId ?? "")}`)}
            label={`Kill the run ${instanceId ?? ""}`}
            question="Really kill it?"
            hidden={runningSince(run) === null}
          >
            Kill
          </Action>
        </td>
      </tr>
      {isOpen && (
        <DetailsRow columns={columns.length}>
          <Calls entry={run} />
        </DetailsRow>
      )}
    </>
  );
});

const maxResultChars = 200;

/** The beginning of the value that a run returned, on one line. */
function resultText({ value }: HistoryEntry): string {
  return plainText(valueLine(value).slice(0, maxResultChars)).replace(/\s+/g, " ").trim();
}
