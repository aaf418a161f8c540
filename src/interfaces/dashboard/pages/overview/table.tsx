import { useRef, useEffect, useMemo, useState } from "preact/hooks";
import type { SchedulerStatus } from "../../../../../streams/status/wire.ts";
import type { LatestRuns } from "../../../../foundation/contracts/history.ts";
import { isDescending, sortOf } from "./agent-filter.ts";
import type { AgentFilter, Sort, SortBy } from "./agent-filter.ts";
import { GroupHead } from "./group-head.tsx";
import type { PlacedAgent } from "./held-order.ts";
import type { AgentCounts } from "./filters.tsx";
import { urgencyGroupOf, urgencyGroups, type UrgencyGroup } from "../../../views/agent-order.ts";
import { mostRows, type GroupCounts } from "./rows.ts";
import { AgentRow, cellClass, columns } from "./row.tsx";
import type { Selection } from "./bulk.tsx";
import { mostNames } from "../../../../foundation/contracts/format.ts";
import { fetchJson } from "../../live/api.ts";
import { useStatus } from "../../live/status.ts";
import { useLatest } from "../../live/store.ts";
import { paced } from "../../live/use-document.ts";

/** Projects with fewer agents have room for more than one line of each. */
const denseFrom = 10;

interface AgentsTableProps {
  readonly rows: readonly PlacedAgent[];
  /** How many agents that the filter shows are in each group; null for rows without groups. */
  readonly groups: GroupCounts | null;
  readonly closed: readonly UrgencyGroup[];
  readonly toggle: (group: UrgencyGroup) => void;
  readonly scheduler: SchedulerStatus;
  readonly latestRuns: LatestRuns | null;
  readonly filter: AgentFilter;
  readonly change: (part: Partial<AgentFilter>) => void;
  readonly selection: Selection;
  readonly counts: AgentCounts;
  /** How many agents the filter shows. */
  readonly shown: number;
}

/** The table of the agents. */
export function AgentsTable(props: AgentsTableProps) {
  const { rows, groups, closed, scheduler, filter, change, selection, shown } = props;
  const count = props.counts.all;
  const agents = useMemo(() => rows.map(({ agent }) => agent), [rows]);
  const latestRuns = useLatestRuns(props.latestRuns, agents);
  const rowOf = ({ agent, group }: PlacedAgent) => (
    <AgentRow
      agent={agent}
      hasMoved={groups !== null && urgencyGroupOf(agent) !== group}
      isPaused={scheduler.paused}
      isDraining={scheduler.draining}
      runs={latestRuns.get(agent.name)}
      isSelected={selection.has(agent.name)}
      onSelect={selection.select}
      key={agent.name}
    />
  );
  const look = `${count >= denseFrom ? "dense" : ""} ${count < 2 ? "single" : ""}`;
  return (
    <section aria-label="Agents" class={`panel ${look}`} id="table" hidden={count === 0}>
      <table role="table" class="agents" id="agents">
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col" class="select">
              <span class="visually-hidden">Selected</span>
              <input
                type="checkbox"
                id="select-all"
                aria-label="Select all shown agents"
                checked={selection.isAll}
                indeterminate={selection.agents.length > 0 && !selection.isAll}
                onChange={({ currentTarget }) => selection.selectAll(currentTarget.checked)}
              />
            </th>
            {columns.map(({ title }) => (
              <Head title={title} sort={filter.sort} change={change} key={title} />
            ))}
            <th role="columnheader" scope="col" class="actions">
              Actions
            </th>
          </tr>
        </thead>
        {groups === null ? (
          <tbody role="rowgroup">{rows.map(rowOf)}</tbody>
        ) : (
          (filter.sort.isReversed ? urgencyGroups.toReversed() : urgencyGroups).map((group) => {
            const inGroup = groups[group] ?? 0;
            const isClosed = count > 1 && closed.includes(group);
            if (inGroup === 0) return null;
            return (
              <tbody role="rowgroup" key={group}>
                {/* One agent needs no group. */}
                {count > 1 && (
                  <GroupHead
                    group={group}
                    count={inGroup}
                    isClosed={isClosed}
                    toggle={() => props.toggle(group)}
                  />
                )}
                {!isClosed && rows.filter((row) => row.group === group).map(rowOf)}
              </tbody>
            );
          })
        )}
      </table>
      <p class="muted none-match" id="more-agents" role="status" hidden={shown <= mostRows}>
        These are the first {mostRows} of {shown.toLocaleString("en")} agents. Filter to find the
        others.
      </p>
      <p class="muted none-match" id="none-match" role="status" hidden={shown > 0}>
        No agent matches the filter.{" "}
        <button type="button" class="link" onClick={() => change({ q: "", state: "", tag: "" })}>
          Show all
        </button>
      </p>
    </section>
  );
}

/** Columns that sort the table. */
const sortKeys: Readonly<Partial<Record<string, SortBy>>> = {
  Agent: "name",
  State: "errors",
  "Last Run": "last-run",
  Duration: "duration",
  "Next Run": "next-run",
  "Cost Today": "cost",
};

interface HeadProps {
  readonly title: string;
  readonly sort: Sort;
  readonly change: (part: Partial<AgentFilter>) => void;
}

function Head({ title, sort, change }: HeadProps) {
  const key = sortKeys[title];
  const order = isDescending(sort) ? "descending" : "ascending";
  const press = (): void => {
    const isReversed = key === sort.by && !sort.isReversed;
    change({ sort: { ...sortOf(key ?? ""), isReversed } });
  };
  return (
    <th
      role="columnheader"
      scope="col"
      class={cellClass(title)}
      aria-sort={key === sort.by ? order : undefined}
    >
      {key === undefined ? (
        title
      ) : (
        <>
          <span class="column-name">{title}</span>
          <button type="button" onClick={press}>
            {title}
          </button>
        </>
      )}
    </th>
  );
}

type Named = readonly { readonly name: string }[];

const pauseMs = 2_000;

/** The latest runs of the agents that are shown, by name. They are read again for agents whose status changed. */
function useLatestRuns(first: LatestRuns | null, shown: Named) {
  const [runs, setRuns] = useState(() => byName(first));
  const changed = useRef(new Set<string>());
  const latest = useLatest(shown);
  const read = async (): Promise<void> => {
    const wanted = latest.current.filter(({ name }) => changed.current.has(name));
    const names = wanted.slice(0, mostNames).map(({ name }) => name);
    if (names.length === 0) return;
    // Cleared before the request: a change meanwhile causes another read.
    for (const name of names) changed.current.delete(name);
    const fetched = await fetchJson<LatestRuns>(`/api/stats/latest-runs?agents=${names.join(",")}`);
    if (!fetched.ok) return names.forEach((name) => changed.current.add(name));
    setRuns((now) => new Map([...now, ...byName(fetched.value)]));
    if (wanted.length > names.length) refresh();
  };
  const refresh = useMemo(() => paced(read, pauseMs), []);
  const note = (agents: Named): void => {
    for (const { name } of agents) changed.current.add(name);
    if (agents.length > 0) refresh();
  };
  useStatus({ snapshot: ({ agents }) => note(agents), update: ({ agents = [] }) => note(agents) });
  useEffect(refresh, [shown.map(({ name }) => name).join()]);
  return runs;
}

function byName(document: LatestRuns | null) {
  return new Map(document?.agents.map(({ name, runs }) => [name, runs]));
}
