import { outcomeText } from "../../../../streams/outcomes.ts";
import { inARow, lateDue, stateWord } from "../../../foundation/contracts/format.ts";
import type { Failing, HistoryEntry } from "../../../foundation/contracts/history.ts";
import { agentAddress, changesAddress, runAddress, pathOf } from "../text/addresses.ts";
import { listTime } from "../text/format.ts";
import { runningSince, triggerWords, lookOf, type Standing } from "./trigger-words.ts";
import { Action } from "../kit/action.tsx";
import { Duration, ListTime } from "../kit/time.tsx";
import { post } from "../live/api.ts";

interface RunLinkProps {
  readonly agent: string | null;
  readonly instanceId: string | null;
  /** By default the run's own name. */
  readonly text?: string;
}

/** A link to the page of a run; nothing for work without one. */
export function RunLink({ agent, instanceId, text }: RunLinkProps) {
  if (agent === null || instanceId === null) return null;
  return (
    <a
      class="run-link"
      href={runAddress(agent, instanceId)}
      aria-label={text === "run" ? `Run ${instanceId}` : undefined}
    >
      {text ?? instanceId}
    </a>
  );
}

/** How long an agent has been failing, its last success, and the changes in between. */
export function FailingSince({
  agent,
  failing,
}: {
  readonly agent: string;
  readonly failing: Failing | null;
}) {
  if (failing === null) return null;
  const { since, count, instanceId, newest, lastSuccess, changed } = failing;
  return (
    <p class="outcome failed" id="failing">
      {newest ? "Failing" : "Had been failing"} since {listTime(since)}
      {inARow(count)}
      {lastSuccess === null ? (
        "; no success is known"
      ) : (
        <>
          {"; last success "}
          <RunLink
            agent={agent}
            instanceId={lastSuccess.instanceId}
            text={listTime(lastSuccess.at)}
          />
          {changed?.length === 0 && "; nothing changed in between"}
          {changed !== null && changed.length > 0 && (
            <>
              {"; changed in between: "}
              <a href={changesAddress(agent, instanceId, lastSuccess.instanceId)}>
                {changed.join(" and ")}
              </a>
            </>
          )}
        </>
      )}
    </p>
  );
}

/** The time of an entry, as a link to its run; a queued entry has no run yet. */
export function EntryTime({ agent, instanceId, at }: HistoryEntry) {
  const time = <ListTime at={at} />;
  if (agent === null || instanceId === null) return time;
  return (
    <span class="entry-run">
      <a class="run-link" href={runAddress(agent, instanceId)}>
        {time}
      </a>
    </span>
  );
}

/** A link to an agent's page; a long name is cut. */
export function AgentLink({
  agent,
  otherwise = "none",
}: {
  readonly agent: string | null;
  readonly otherwise?: string;
}) {
  if (agent === null) return <span class="muted">{otherwise}</span>;
  return (
    <a class="cut-name" href={agentAddress(agent)} title={agent}>
      {agent}
    </a>
  );
}

/** The trigger of a run; a call leads to the run that made it. */
export function TriggerLabel(entry: HistoryEntry) {
  const { kind, source, caller, replayOf } = entry;
  if (kind !== "agent-call" || source === null || caller === null) {
    const due = lateDue(entry);
    return (
      <span>
        {triggerWords(entry)}
        {due !== null && (
          <>
            {" for "}
            <ListTime at={due} />
          </>
        )}
      </span>
    );
  }
  return (
    <span class="caller">
      call from <RunLink agent={source} instanceId={caller} />
      {replayOf === null ? "" : " (replay)"}
    </span>
  );
}

/** The state or outcome of an entry. */
export function Outcome(entry: HistoryEntry) {
  return <span class={`outcome ${lookOf(entry)}`}>{outcomeText(stateWord(entry))}</span>;
}

interface KillRunProps extends Standing {
  readonly instanceId: string | null;
  /** True for the only one of a page. */
  readonly isOfPage?: boolean;
}

/** The button that kills a running run, after a question. */
export function KillRun({ instanceId, isOfPage, ...run }: KillRunProps) {
  return (
    <Action
      act={() => post(pathOf`/control/kill/${instanceId ?? ""}`)}
      {...(isOfPage ? { id: "kill", class: "button acts danger" } : { class: "link danger" })}
      label={`Kill the run ${instanceId ?? ""}`}
      question="Really kill it?"
      hidden={runningSince(run) === null}
    >
      Kill
    </Action>
  );
}

/** How long an entry's run took, or has taken so far. */
export function RunDuration(entry: HistoryEntry) {
  return (
    <span class="number">
      <Duration ms={entry.durationMs} since={runningSince(entry)} />
    </span>
  );
}
