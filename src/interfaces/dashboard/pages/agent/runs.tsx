import { dollars } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry, HistoryPage } from "../../../../foundation/contracts/history.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { changesAddress, triggersAddress, runsPath } from "../../text/addresses.ts";
import { hasCalls, valueLine } from "../../runs/call-tree.ts";
import { compactCount } from "../../text/format.ts";
import { whyText } from "../../runs/trigger-words.ts";
import { Calls } from "../../runs/calls.tsx";
import { Panel } from "../../kit/panel.tsx";
import { RunCharts } from "./charts.tsx";
import {
  EntryRunLink,
  KillRun,
  Outcome,
  RunDuration,
  TriggerLabel,
} from "../../runs/run-parts.tsx";
import { Table, Unfold, type CellOf, type Column } from "../../kit/table.tsx";
import { ListTime } from "../../kit/time.tsx";

const shownRuns = 10;

interface RunsProps {
  readonly agent: string;
  readonly first: FirstDocument<HistoryPage>;
}

/** The panel with the last runs of an agent, as charts and as a table. */
export function Runs({ agent, first }: RunsProps) {
  const { value } = useDocument(() => runsPath(agent), { ...first, agent, isQuiet: true });
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
        id="run-rows"
        class="compact"
        columns={columns}
        rows={runs.slice(0, shownRuns).map((run, index) => ({
          ...run,
          changedSince: changedSince(run, runs.slice(index + 1)),
        }))}
        keyOf={({ id }) => id}
        details={Calls}
        hidden={runs.length === 0}
      />
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

interface RunRow extends HistoryEntry {
  /** The run before it, if that ran another version. */
  readonly changedSince: string | null;
}

const columns: readonly Column<RunRow>[] = [
  ["Started", ({ startedAt, at }) => <ListTime at={startedAt ?? at} />],
  ["Trigger", RunTrigger],
  [
    "Outcome",
    (run) => (
      <>
        <Outcome {...run} />
        <div class="sub run-why">{whyText(run)}</div>
        <div class="sub run-result">{resultText(run)}</div>
      </>
    ),
  ],
  ["Duration", RunDuration],
  ["Tokens", ({ tokens }) => (tokens === null ? "–" : compactCount(tokens)), "number"],
  ["Cost", ({ costUsd }) => (costUsd === null ? "–" : dollars(costUsd)), "number"],
  [
    "Run",
    (run) => (
      <>
        <EntryRunLink {...run} />
        <KillRun {...run} />
      </>
    ),
    "run-actions",
  ],
];

/** The trigger of a run, the button for its calls, and the mark of a change. */
function RunTrigger({ changedSince: before, unfolding, ...run }: CellOf<RunRow>) {
  const { agent, instanceId, calls, value } = run;
  return (
    <>
      <TriggerLabel {...run} />
      <Unfold
        {...unfolding}
        class="link run-calls"
        words={calls > 0 ? counted(calls, "call") : value === null ? "call" : "value"}
        label={`of the run ${instanceId ?? ""}`}
        hidden={!hasCalls(run)}
      />
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
    </>
  );
}

const maxResultChars = 200;

/** The beginning of the value that a run returned, on one line. */
function resultText({ value }: HistoryEntry): string {
  return plainText(valueLine(value).slice(0, maxResultChars)).replace(/\s+/g, " ").trim();
}
