import { dollars } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry, HistoryPage } from "../../../../foundation/contracts/history.ts";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { changesAddress, triggersAddress, runsPath } from "../../text/addresses.ts";
import { hasCalls, valueLine } from "../../runs/call-tree.ts";
import { compactCount, dayTime } from "../../text/format.ts";
import { whyText } from "../../runs/trigger-words.ts";
import { Calls } from "../../runs/calls.tsx";
import { Action } from "../../kit/action.tsx";
import { Linked } from "../../kit/linked.tsx";
import { refusalsOf, triggerRun } from "../../live/agent-requests.ts";
import { Panel } from "../../kit/panel.tsx";
import { Timeline } from "./timeline.tsx";
import { EntryTime, KillRun, Outcome, RunDuration, TriggerLabel } from "../../runs/run-parts.tsx";
import { Table, Unfold, type Column } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";

const shownRuns = 10;

interface RunsProps {
  readonly agent: string;
  readonly first: FirstDocument<HistoryPage>;
  /** Null if it was removed. */
  readonly status: AgentStatus | null;
}

/** The panel with the last runs of an agent, as a timeline and as a table. */
export function Runs({ agent, first, status }: RunsProps) {
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
      <Timeline newestFirst={runs} />
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
      <NoRuns agent={agent} status={status} hidden={value?.triggers.length !== 0} />
    </Panel>
  );
}

interface NoRunsProps extends Pick<RunsProps, "agent" | "status"> {
  readonly hidden: boolean;
}

function NoRuns({ agent, status, hidden }: NoRunsProps) {
  const nextRunAt = status?.nextRunAt ?? null;
  return (
    <div class="muted note" id="runs-empty" hidden={hidden}>
      <p>
        No runs yet.{" "}
        {nextRunAt !== null && (
          <>
            Next scheduled run: {dayTime(nextRunAt)} (<Time at={nextRunAt} side="future" />
            ).{" "}
          </>
        )}
      </p>
      <Action act={() => triggerRun(agent)} whyNot={refusalsOf(status).run}>
        Run it now
      </Action>
    </div>
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
  ["Started", (run) => <EntryTime {...run} at={run.startedAt ?? run.at} />],
  ["Trigger", RunTrigger],
  [
    "Outcome",
    ({ unfolding, ...run }) => (
      <>
        <Outcome {...run} />
        <Unfold
          {...unfolding}
          class="link run-calls"
          words={run.calls > 0 ? counted(run.calls, "call") : run.value === null ? "call" : "value"}
          label={`of the run ${run.instanceId ?? ""}`}
          hidden={!hasCalls(run)}
        />
        <div class="sub run-why">{whyText(run)}</div>
        <div class="sub run-result">
          <Linked text={resultText(run)} />
        </div>
      </>
    ),
  ],
  ["Duration", RunDuration],
  ["Tokens", ({ tokens }) => (tokens === null ? "–" : compactCount(tokens)), "number"],
  ["Cost", ({ costUsd }) => (costUsd === null ? "–" : dollars(costUsd)), "number"],
  ["(Kill)", KillRun, "run-actions"],
];

/** The trigger of a run, and the mark of a change. */
function RunTrigger({ changedSince: before, ...run }: RunRow) {
  const { agent, instanceId } = run;
  return (
    <>
      <TriggerLabel {...run} />{" "}
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
