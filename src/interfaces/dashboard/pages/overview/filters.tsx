import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { agentGroups, groupsOf, isNarrow, sortOf, sortWords } from "./agent-filter.ts";
import type { AgentFilter, AgentGroup } from "./agent-filter.ts";
import { Select, useFieldValue } from "../../kit/fields.tsx";

/** Number of agents, in total and in each group, and their tags. */
export interface AgentCounts {
  readonly all: number;
  readonly groups: Readonly<Partial<Record<AgentGroup, number>>>;
  /** The cost of today, in US dollars. */
  readonly usd: number;
  readonly tags: readonly string[];
}

/** Counts agents; `now` is epoch ms. */
export function countAgents(agents: readonly AgentStatus[], now: number): AgentCounts {
  const groups: Partial<Record<AgentGroup, number>> = {};
  for (const group of agents.flatMap(groupsOf)) groups[group] = (groups[group] ?? 0) + 1;
  const tags = [...new Set(agents.flatMap((agent) => agent.tags))].sort();
  const today = agents.flatMap(({ spentToday }) =>
    spentToday === null || Date.parse(spentToday.endsAt) <= now ? [] : [spentToday.usd],
  );
  const usd = today.reduce((total, one) => total + one, 0);
  return { all: agents.length, groups, tags, usd };
}

interface AgentFiltersProps {
  readonly filter: AgentFilter;
  readonly counts: AgentCounts;
  readonly onChange: (change: Partial<AgentFilter>) => void;
}

/** A project with fewer agents needs no filter. */
const filterFrom = 2;

/** The filter and the order of the agents. */
export function AgentFilters({ filter, counts, onChange }: AgentFiltersProps) {
  const { tag } = filter;
  const field = useFieldValue<HTMLInputElement>(filter.q);
  const tags = tag === "" || counts.tags.includes(tag) ? counts.tags : [tag, ...counts.tags];
  const isUsed = counts.all >= filterFrom || isNarrow(filter);
  return (
    <div class="agent-filters end" id="agent-filters" hidden={!isUsed}>
      <Select
        id="agent-state"
        label="State"
        isBare
        values={agentGroups}
        value={filter.state}
        onChange={(value) => onChange({ state: agentGroups.find((one) => one === value) ?? "" })}
      />
      {tags.length > 0 && (
        <Select
          id="agent-tag"
          label="Tag"
          isBare
          values={tags}
          value={tag}
          onChange={(value) => onChange({ tag: value })}
        />
      )}
      <Select
        id="agent-sort"
        label="Sort by"
        isBare
        any={sortWords.errors}
        values={Object.keys(sortWords).slice(1)}
        words={{ ...sortWords, name: "By name" }}
        value={filter.sort.by === "errors" ? "" : filter.sort.by}
        onChange={(value) => onChange({ sort: sortOf(value) })}
      />
      <input
        class="filter"
        type="search"
        id="agent-filter"
        placeholder="Filter agents"
        aria-label="Filter agents by name, tag, state or trigger"
        defaultValue={filter.q}
        ref={field}
        onInput={({ currentTarget }) => onChange({ q: currentTarget.value.trim() })}
      />
    </div>
  );
}
