import { useState } from "preact/hooks";
import type { AgentStatus, LockStatus, RecentLog } from "../../../../../streams/status/wire.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { LatestRuns } from "../../../../foundation/contracts/history.ts";
import { useAgents, useLocks } from "../../live/agents.ts";
import { status } from "../../live/status.ts";
import { useStore } from "../../live/store.ts";
import { AgentFilters, countAgents, type AgentCounts } from "./filters.tsx";
import { AgentsTable, mostRows } from "./table.tsx";
import { BulkActions, useSelection } from "./bulk.tsx";
import { LockList } from "../../runs/lock-list.tsx";
import { frameStyles, Site, useScheduler, type Frame } from "../../kit/site.tsx";
import type { LivePage } from "../../send-page.tsx";
import { filterAgents, isNarrow, queryOf, type AgentFilter } from "./agent-filter.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { useIsLocal } from "../../live/clock.ts";
import { agentAddress, logAddress, runAddress } from "../../text/addresses.ts";
import { Panel } from "../../kit/panel.tsx";
import { clockTime, exactTime, levelName } from "../../text/format.ts";

interface OverviewData {
  readonly frame: Frame;
  readonly filter: AgentFilter;
  /** The agents of the first screen, in their order. */
  readonly agents: readonly AgentStatus[];
  /** How many agents the filter shows. */
  readonly shown: number;
  readonly counts: AgentCounts;
  readonly latestRuns: LatestRuns | null;
  readonly locks: readonly LockStatus[];
  readonly recentLogs: readonly RecentLog[];
}

/** The live overview of all agents. */
export const page: LivePage<OverviewData> = {
  name: "overview",
  title: () => null,
  styles: [...frameStyles, "overview", "agent-filters", "table"],
  view: Overview,
};

/** Agents that the server renders: more than fit on a screen. */
const firstRows = 50;

/** The part of the page's data that depends on the agents. */
export function agentsData(agents: readonly AgentStatus[], filter: AgentFilter) {
  const shown = filterAgents(agents, filter, Date.now());
  return {
    filter,
    agents: shown.slice(0, firstRows),
    shown: shown.length,
    counts: countAgents(agents),
  };
}

function Overview({ frame, filter: firstFilter, locks: firstLocks, ...first }: OverviewData) {
  const now = useScheduler(frame);
  const live = useAgents();
  const locks = useLocks(firstLocks);
  const held = locks.filter((lock) => lock.held).length;
  const [filter, setFilter] = useState(firstFilter);
  const change = (part: Partial<AgentFilter>): void => {
    const next = { ...filter, ...part };
    const query = queryOf(next);
    history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
    setFilter(next);
  };
  const all = live && filterAgents(live, filter, Date.now());
  const counts = live === null ? first.counts : countAgents(live);
  const shown = all?.length ?? first.shown;
  const agents = (all ?? first.agents).slice(0, mostRows);
  const selection = useSelection(agents);
  const total = counted(counts.all, "agent");
  return (
    <Site
      frame={frame}
      title={null}
      heading="Agents"
      head={
        <>
          <span class={`pill ${now.paused ? "held" : "good"}`} id="scheduler-state" role="status">
            {now.paused ? `${now.pausedWork ? "new work" : "schedules"} paused` : "active"}
          </span>
          <span class="muted" id="counts">
            {isNarrow(filter) ? `${shown} of ${total}` : total}
          </span>
          <a href="#locks" id="lock-count" hidden={held === 0}>
            {counted(held, "lock")} held
          </a>
        </>
      }
      current="agents"
    >
      <AgentFilters filter={filter} counts={counts} onChange={change} />
      <AgentsTable
        agents={agents}
        filter={filter}
        selection={selection}
        change={change}
        scheduler={now}
        latestRuns={first.latestRuns}
        count={counts.all}
        shown={shown}
      />
      <section class="panel empty" id="empty" hidden={counts.all > 0}>
        <h2>No agents yet</h2>
        <p class="muted">
          Create <code>agents/&lt;name&gt;/</code> with a <code>SKILL.md</code> (its instructions)
          and a <code>config.toml</code> (when, and with which model), or let{" "}
          <code>al agent new</code> do it. It appears here automatically.
        </p>
      </section>
      <Activity first={first.recentLogs} />
      <LockList locks={locks} />
      <BulkActions {...selection} />
    </Site>
  );
}

/** The latest events of all agents, the newest first; `first` is in the order of the log. */
function Activity({ first }: { readonly first: readonly RecentLog[] }) {
  const lines = useStore(status, (now) => now?.recentLogs ?? first);
  return (
    <Panel id="recent" title="Recent Activity">
      <ol id="activity">
        {lines.toReversed().map((line) => (
          <ActivityLine line={line} key={line.seq} />
        ))}
      </ol>
      <p class="muted" id="activity-empty" hidden={lines.length > 0}>
        Nothing has happened yet.
      </p>
    </Panel>
  );
}

function ActivityLine({ line }: { readonly line: RecentLog }) {
  const { level, agent, instanceId } = line;
  const text = plainText(line.msg);
  // The scheduler has a log, but no page.
  const address = agent === "scheduler" ? logAddress(agent) : agentAddress(agent);
  return (
    <li class={`activity-line ${levelName(level)}`}>
      <time
        class="muted"
        dateTime={line.time}
        title={useIsLocal() ? exactTime(line.time) : undefined}
      >
        {clockTime(line.time)}
      </time>
      <a class="activity-agent" href={address}>
        {agent}
      </a>
      {instanceId === null ? (
        <span class="activity-text">{text}</span>
      ) : (
        <a class="activity-text" href={runAddress(agent, instanceId)}>
          {text}
        </a>
      )}
    </li>
  );
}
