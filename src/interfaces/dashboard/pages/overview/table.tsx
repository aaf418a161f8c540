import { useLayoutEffect, useRef, useEffect, useMemo, useState } from "preact/hooks";
import type { AgentStatus, SchedulerStatus } from "../../../../../streams/status/wire.ts";
import type { LatestRuns } from "../../../../foundation/contracts/history.ts";
import { isDescending, sortOf } from "./agent-filter.ts";
import type { AgentFilter, Sort, SortBy } from "./agent-filter.ts";
import { AgentRow, cellClass, columns } from "./row.tsx";
import type { Selection } from "./bulk.tsx";
import { mostNames } from "../../../../foundation/contracts/format.ts";
import { fetchJson } from "../../live/api.ts";
import { useStatus } from "../../live/status.ts";
import { useLatest } from "../../live/store.ts";
import { paced } from "../../live/use-document.ts";

/** Limit of rows: a browser takes seconds for thousands of agents. */
export const mostRows = 500;
/** Projects with fewer agents have room for more than one line of each. */
const denseFrom = 10;

interface AgentsTableProps {
  readonly agents: readonly AgentStatus[];
  readonly scheduler: SchedulerStatus;
  readonly latestRuns: LatestRuns | null;
  readonly filter: AgentFilter;
  readonly change: (part: Partial<AgentFilter>) => void;
  readonly selection: Selection;
  /** How many agents there are, and how many the filter shows. */
  readonly count: number;
  readonly shown: number;
}

/** The table of the agents. */
export function AgentsTable(props: AgentsTableProps) {
  const { agents, scheduler, filter, change, selection, count, shown } = props;
  const rows = useRef<HTMLTableSectionElement>(null);
  const latestRuns = useLatestRuns(props.latestRuns, agents);
  const ordered = useHeldOrder(rows, agents, filter.sort);
  useKeptFocus();
  const look = `${count >= denseFrom ? "dense" : ""} ${count < 2 ? "single" : ""}`;
  return (
    <section aria-label="Agents" class={`panel ${look}`} id="table" hidden={count === 0}>
      <table role="table" class="agents">
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
        <tbody role="rowgroup" id="agents" ref={rows}>
          {ordered.map((agent) => (
            <AgentRow
              agent={agent}
              isPaused={scheduler.paused}
              isDraining={scheduler.draining}
              runs={latestRuns.get(agent.name)}
              isSelected={selection.has(agent.name)}
              onSelect={selection.select}
              key={agent.name}
            />
          ))}
        </tbody>
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

/** Keeps rows in place while the pointer is over them: a click must not hit another agent. */
function useHeldOrder(
  rows: { readonly current: HTMLElement | null },
  agents: readonly AgentStatus[],
  sort: Sort,
): readonly AgentStatus[] {
  const last = useRef({ sort, places: new Map<string, number>() });
  const isHeld = sort === last.current.sort && rows.current?.matches(":hover") === true;
  const { places } = last.current;
  const placeOf = ({ name }: AgentStatus): number => places.get(name) ?? places.size;
  const ordered = isHeld ? agents.toSorted((a, b) => placeOf(a) - placeOf(b)) : agents;
  last.current = { sort, places: new Map(ordered.map(({ name }, place) => [name, place])) };
  return ordered;
}

/** Restores the focus, which a moved row loses. */
function useKeptFocus(): void {
  const focused = typeof document === "undefined" ? null : document.activeElement;
  useLayoutEffect(() => {
    if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement)
      focused.focus({ preventScroll: true });
  });
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
