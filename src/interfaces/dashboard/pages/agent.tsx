/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { AgentStatus, LockStatus } from "../../../../streams/status/wire.ts";
import type { SpendAnswer } from "../../../features/spend/spend-report.ts";
import type { HistoryPage } from "../../../foundation/contracts/history.ts";
import type { AgentAnswer } from "../../../foundation/contracts/operator-api.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import type { WhyNot } from "../../../foundation/contracts/refused-deliveries.ts";
import type { AgentHosts } from "../../../foundation/contracts/run-hosts.ts";
import { errorToShow } from "../../views/agent-columns.ts";
import { concerns, useAgent } from "../live/agents.ts";
import { scheduler } from "../live/status.ts";
import { useStore } from "../live/store.ts";
import { useDocument } from "../live/use-document.ts";
import { useBudget } from "../parts/agent-budget.tsx";
import { Config, Instructions, NextRuns } from "../parts/agent-detail.tsx";
import { AgentState, KillRuns, RunAgent, RunWithPrompt, Toggle } from "../parts/agent-head.tsx";
import { Hosts } from "../parts/agent-hosts.tsx";
import { Locks } from "../parts/agent-locks.tsx";
import { Runs } from "../parts/agent-runs.tsx";
import { Why, whyQuery } from "../parts/agent-why.tsx";
import { Linked } from "../parts/linked.tsx";
import { FailingSince } from "../parts/run-parts.tsx";
import { frameStyles, Notice, Site } from "../parts/site.tsx";
import type { Frame } from "../parts/site.tsx";
import type { LivePage } from "../send-page.tsx";
import { logAddress, withQuery } from "../text/addresses.ts";

/** Documents that the page shows. */
interface Documents {
  readonly detail: AgentAnswer;
  readonly runs: HistoryPage;
  readonly spending: SpendAnswer;
  readonly hosts: AgentHosts;
  readonly why: WhyNot;
}

interface AgentData {
  readonly frame: Frame;
  readonly name: string;
  /** Null if the agent was removed. */
  readonly status: AgentStatus | null;
  /** All locks of the project. */
  readonly locks: readonly LockStatus[];
  /** A document is null if it could not be read. */
  readonly first: { readonly [Name in keyof Documents]: Documents[Name] | null };
}

/** Everything about one agent: its state, its next and last runs, its config, its instructions. */
export const page: LivePage<AgentData> = {
  name: "agent",
  title: ({ name }) => name,
  styles: [...frameStyles, "history", "list", "calls", "agent", "changes", "markdown"],
  view: Agent,
};

const shownRuns = 30;

/** The addresses of the APIs that the page is read from. */
export function agentPaths(name: string, now: number): Record<keyof Documents, string> {
  const api = `/api/agents/${encodeURIComponent(name)}`;
  return {
    detail: `/dashboard${api}`,
    runs: withQuery("/api/stats/triggers", { agent: name, limit: shownRuns }),
    spending: withQuery("/api/spend", { agent: name }),
    hosts: `${api}/hosts`,
    why: `${api}/why-not?${whyQuery(now).toString()}`,
  };
}

/** Adding up the spending takes the scheduler a moment: it is not requested for each call to a model. */
const spendingMs = 5_000;

function useDocuments({ name, first }: AgentData) {
  const read = <Name extends keyof Documents>(what: Name, pauseMs = 1_000) =>
    useDocument<Documents[Name]>(() => agentPaths(name, Date.now())[what], {
      first: first[what],
      isQuiet: true,
      on: (update) => concerns(update, name),
      pauseMs,
    });
  return {
    detail: read("detail"),
    runs: read("runs"),
    spending: read("spending", spendingMs),
    hosts: read("hosts"),
    why: read("why"),
  };
}

function Agent(data: AgentData) {
  const { frame, name } = data;
  const agent = useAgent(name, data.status);
  const { paused } = useStore(scheduler) ?? frame.scheduler;
  const { detail, runs, spending, hosts, why } = useDocuments(data);
  const budget = useBudget(name, { agent, spending: spending.value, refresh: spending.refresh });
  return (
    <Site frame={frame} title={name} current="agents" isBelow={true}>
      <div class="page-title">
        <h1>{name}</h1>
        <AgentState agent={agent} />
        <div class="end" role="group" aria-label="Actions">
          <a class="button" href={logAddress(name)}>
            Log
          </a>
          <KillRuns name={name} running={agent?.running ?? 0} />
          <Toggle name={name} agent={agent} />
          <RunWithPrompt name={name} agent={agent} />
          <RunAgent name={name} agent={agent} />
        </div>
      </div>
      <FailingSince agent={name} failing={detail.value?.failing ?? null} />
      <Notices name={name} agent={agent} budget={budget.notice} />
      <div class="columns">
        <div class="column">
          <Runs agent={name} entries={runs.value?.triggers ?? null} />
          <Why why={why.value} />
          <Instructions detail={detail.value} />
        </div>
        <div class="column">
          <NextRuns
            detail={detail.value}
            note={tickNote(agent?.enabled ?? true, paused)}
            onTick={detail.refresh}
          />
          {budget.panel}
          <Locks agent={name} first={data.locks} />
          <Hosts agent={name} hosts={hosts.value} refresh={hosts.refresh} />
          <Config detail={detail.value} />
        </div>
      </div>
      {budget.dialog}
    </Site>
  );
}

interface NoticesProps {
  readonly name: string;
  readonly agent: AgentStatus | null;
  readonly budget: ComponentChildren;
}

function Notices({ name, agent, budget }: NoticesProps) {
  const { title, description = null, statusText = null, warning = null } = agent ?? {};
  const words = [title === name ? null : title, description].filter(Boolean);
  const error = agent === null ? null : errorToShow(agent);
  const gone = `There is no agent ${name} in the project any more. Its log and its history are kept.`;
  return (
    <>
      <p class="muted" id="description" hidden={words.length === 0}>
        {[...new Set(words)].join(": ")}
      </p>
      <Notice kind="error" id="agent-error" text={error && plainText(error)} />
      {budget}
      <Notice kind="warning" id="agent-warning" text={warning && plainText(warning)} />
      <Notice kind="warning" id="gone" text={agent === null ? gone : null} />
      <p class="status-line" id="status-text" hidden={!statusText}>
        {statusText && <Linked text={plainText(statusText)} />}
      </p>
    </>
  );
}

function tickNote(isEnabled: boolean, isPaused: boolean): string {
  if (!isEnabled) return "The agent is disabled: nothing starts it.";
  return isPaused ? "The scheduler is paused: ticks that come are skipped." : "";
}
