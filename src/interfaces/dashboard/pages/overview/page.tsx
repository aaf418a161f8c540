import { useState } from "preact/hooks";
import type { LockStatus, RecentLog, SchedulerStatus } from "../../../../../streams/status/wire.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { LatestRuns } from "../../../../foundation/contracts/history.ts";
import { useLocks } from "../../live/agents.ts";
import { frameStyles, Site, useScheduler, type Frame } from "../../kit/site.tsx";
import { LockList } from "../../runs/lock-list.tsx";
import type { LivePage } from "../../send-page.tsx";
import { Activity } from "./activity.tsx";
import { isNarrow, queryOf, type AgentFilter } from "./agent-filter.ts";
import { BulkActions, useSelection } from "./bulk.tsx";
import { AgentFilters } from "./filters.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Health, type HealthDocuments } from "./health.tsx";
import type { UrgencyGroup } from "../../../views/agent-order.ts";
import { useRows, type AgentsData } from "./rows.ts";
import { AgentsTable } from "./table.tsx";

interface OverviewData extends HealthDocuments, AgentsData {
  readonly frame: Frame;
  /** Groups that this browser keeps closed. */
  readonly closed: readonly UrgencyGroup[];
  readonly latestRuns: LatestRuns | null;
  readonly locks: readonly LockStatus[];
  readonly recentLogs: readonly RecentLog[];
}

/** The live overview of all agents. */
export const page: LivePage<OverviewData> = {
  name: "overview",
  title: () => null,
  styles: [...frameStyles, "overview", "health", "agent-filters", "table"],
  view: Overview,
};

function Overview({ frame, locks: firstLocks, ...first }: OverviewData) {
  const now = useScheduler(frame);
  const locks = useLocks(firstLocks);
  const [filter, setFilter] = useState(first.filter);
  const change = (part: Partial<AgentFilter>): void => {
    const next = { ...filter, ...part };
    const query = queryOf(next);
    history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
    setFilter(next);
  };
  const rows = useRows(first, filter);
  const { agents, counts } = rows;
  const selection = useSelection(rows.visible);
  return (
    <Site
      frame={frame}
      title={null}
      heading="Agents"
      head={<Head now={now} locks={locks} filter={filter} change={change} rows={rows} />}
      current="agents"
    >
      <Health
        counts={counts}
        questions={now.questions}
        filter={filter}
        change={change}
        hours={first.hours}
        spend={first.spend}
      />
      <AgentsTable
        {...rows}
        filter={filter}
        selection={selection}
        change={change}
        scheduler={now}
        latestRuns={first.latestRuns}
      />
      {counts.all <= 1 && (
        <FirstSteps agent={agents[0] ?? null} hasWebhooks={now.webhookSources.length > 0} />
      )}
      <Activity first={first.recentLogs} />
      <LockList locks={locks} />
      <BulkActions {...selection} />
    </Site>
  );
}

interface HeadProps {
  readonly now: SchedulerStatus;
  readonly locks: readonly LockStatus[];
  readonly filter: AgentFilter;
  readonly change: (part: Partial<AgentFilter>) => void;
  readonly rows: ReturnType<typeof useRows>;
}

/** What is beside the heading: how many agents there are, and their filter. */
function Head({ now, locks, filter, change, rows }: HeadProps) {
  const { counts, shown, isStale, sortAgain } = rows;
  const held = locks.filter((lock) => lock.held).length;
  const total = counted(counts.all, "agent");
  return (
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
      <button class="link" type="button" id="sort-again" hidden={!isStale} onClick={sortAgain}>
        Sort again
      </button>
      <AgentFilters filter={filter} counts={counts} onChange={change} />
    </>
  );
}
