import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { AgentStatus, LockStatus } from "../../../../../streams/status/wire.ts";
import type { SpendAnswer } from "../../../../features/spend/spend-report.ts";
import type { ShownFiles } from "../../../../foundation/contracts/file-edits.ts";
import type { HistoryPage } from "../../../../foundation/contracts/history.ts";
import type { AgentAnswer } from "../../../../foundation/contracts/operator-api.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { WhyNot } from "../../../../features/webhooks/delivery-report.ts";
import type { AgentHosts } from "../../../../foundation/contracts/run-hosts.ts";
import { errorToShow } from "../../../views/agent-columns.ts";
import { useAgent, useLocks } from "../../live/agents.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { useBudget } from "./budget.tsx";
import { Config, NextRuns } from "./detail.tsx";
import { AgentFile, useDrafts } from "./file.tsx";
import { AgentState, KillRuns, RunAgent, StartNow } from "../../runs/agent-head.tsx";
import { Clone, RunWithPrompt, Toggle } from "./buttons.tsx";
import type { MemoryVersionsView, MemoryView } from "../../../../features/memory/memory-views.ts";
import { Hosts } from "./hosts.tsx";
import { Memory } from "./memory.tsx";
import { Runs } from "./runs.tsx";
import { Sessions } from "./sessions.tsx";
import { memoryAt, tabFilters, tabOf, Tabs, type Tab } from "./tabs.tsx";
import type { ListView } from "../../kit/list-view.ts";
import { Why } from "./why.tsx";
import { Linked } from "../../kit/linked.tsx";
import { listStyles, useListViews } from "../../kit/list.tsx";
import { LockList } from "../../runs/lock-list.tsx";
import { FailingSince } from "../../runs/run-parts.tsx";
import { Notice, Site, type Frame } from "../../kit/site.tsx";
import type { LivePage } from "../../send-page.tsx";
import { logAddress, spendPath, agentApi } from "../../text/addresses.ts";

interface AgentData {
  readonly frame: Frame;
  readonly name: string;
  readonly view: ListView;
  /** Null if the agent was removed. */
  readonly status: AgentStatus | null;
  /** All locks of the project. */
  readonly locks: readonly LockStatus[];
  readonly detail: FirstDocument<AgentAnswer>;
  readonly spending: FirstDocument<SpendAnswer>;
  /** Documents of the tabs; those of the others are not read yet. */
  readonly first: {
    readonly runs: FirstDocument<HistoryPage>;
    readonly hosts: FirstDocument<AgentHosts>;
    readonly why: FirstDocument<WhyNot>;
    readonly files: FirstDocument<ShownFiles>;
    readonly memory: FirstDocument<MemoryView>;
    readonly versions: FirstDocument<MemoryVersionsView>;
  };
}

/** Everything about one agent: its state, and in tabs its runs, what kept it from running, its config, its instructions. */
export const page: LivePage<AgentData> = {
  name: "agent",
  title: ({ name }) => name,
  styles: [...listStyles, "calls", "columns", "agent", "changes", "markdown"],
  view: Agent,
};

/** Adding up the spending takes the scheduler a moment: it is not requested for each call to a model. */
const spendingMs = 5_000;

function Agent(data: AgentData) {
  const { frame, name } = data;
  const agent = useAgent(name, data.status);
  const about = { agent: name, isQuiet: true };
  const detail = useDocument(() => `/dashboard${agentApi(name)}`, { ...data.detail, ...about });
  const spending = useDocument(() => spendPath(name), {
    ...data.spending,
    ...about,
    pauseMs: spendingMs,
  });
  const budget = useBudget(name, agent, spending);
  const { view, filter } = useListViews(tabFilters, data.view);
  const tab = tabOf(view);
  const first = useFirst(data, tab);
  const file = { agent: name, first: first.files, ...useDrafts() };
  return (
    <Site
      frame={frame}
      title={name}
      head={
        <>
          <AgentState agent={agent} />
          <div class="end" role="group" aria-label="Actions">
            <a class="button" href={logAddress(name)}>
              Log
            </a>
            <StartNow name={name} agent={agent} />
            <KillRuns name={name} running={agent?.running ?? 0} />
            <Clone name={name} agent={agent} />
            <Toggle name={name} agent={agent} />
            <RunWithPrompt name={name} agent={agent} />
            <RunAgent name={name} agent={agent} />
          </div>
        </>
      }
      documents={[detail, spending]}
      current="agents"
      isBelow
    >
      <FailingSince agent={name} failing={detail.value?.failing ?? null} />
      <Notices name={name} agent={agent} budget={budget.notice} />
      <Tabs agent={name} current={tab} onOpen={filter} />
      {tab === "runs" && (
        <div class="columns">
          <Runs agent={name} first={first.runs} status={agent} />
          <div class="column">
            <NextRuns agent={agent} frame={frame} detail={detail.value} onTick={detail.refresh} />
            {budget.panel}
            <Sessions agent={name} detail={detail.value} />
            <Locks {...data} />
            <Hosts agent={name} first={first.hosts} />
          </div>
        </div>
      )}
      {tab === "why" && <Why agent={name} first={first.why} status={agent} />}
      {tab === "config" && (
        <div class="columns">
          <AgentFile {...file} name="config.toml" title="Config" key={tab} />
          <Config detail={detail.value} />
        </div>
      )}
      {tab === "instructions" && (
        <AgentFile
          {...file}
          name="SKILL.md"
          title="Instructions"
          rendered={detail.value?.config?.instructions}
          key={tab}
        />
      )}
      {tab === "memory" && (
        <Memory
          agent={name}
          name={memoryAt(name, view)}
          shared={sharedOf(detail.value)}
          first={first}
          onOpen={filter}
        />
      )}
      {budget.dialog}
    </Site>
  );
}

/** The names of the shared memories of its runs. */
function sharedOf(detail: AgentAnswer | null): readonly string[] {
  return detail?.config?.memory?.shared.map((one) => one.name) ?? [];
}

/** The locks that the agent's runs hold and wait for, and the other runs that hold these and wait for them. */
function Locks({ name, locks: first }: AgentData) {
  const locks = useLocks(first);
  const own = new Set(locks.filter(({ agent }) => agent === name).map(({ resource }) => resource));
  return <LockList locks={locks.filter(({ resource }) => own.has(resource))} />;
}

/** The documents that the page was rendered with: they are old when the reader comes back to their tab. */
function useFirst(data: AgentData, tab: Tab): AgentData["first"] {
  const hasLeft = useRef(false);
  useEffect(() => () => void (hasLeft.current = true), [tab]);
  if (!hasLeft.current && tab === tabOf(data.view)) return data.first;
  const unread = Object.entries(data.first).map(([name, { changedBy }]) => [
    name,
    { value: null, changedBy },
  ]);
  return Object.fromEntries(unread) as AgentData["first"];
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
  const gone = `${name} was removed from the project. Its log and its history are kept.`;
  return (
    <>
      <p class="muted" id="description" hidden={words.length === 0}>
        {[...new Set(words)].join(": ")}
      </p>
      <Notice kind="error" id="agent-error" text={error && plainText(error)} />
      {budget}
      <Notice kind="warning" id="agent-warning" text={warning && plainText(warning)} />
      <Notice kind="warning" id="gone" text={agent === null ? gone : null} />
      <p class="status-line" id="status-text">
        {statusText ? <Linked text={plainText(statusText)} /> : "–"}
      </p>
    </>
  );
}
