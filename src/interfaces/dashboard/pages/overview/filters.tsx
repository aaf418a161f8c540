import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { agentGroups, groupsOf, isNarrow, sortOf, sortWords } from "./agent-filter.ts";
import type { AgentFilter, AgentGroup } from "./agent-filter.ts";
import { useFieldValue } from "../../kit/fields.tsx";

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
      <select
        class="filter"
        id="agent-state"
        aria-label="State"
        value={filter.state}
        onChange={({ currentTarget: { value } }) =>
          onChange({ state: agentGroups.find((group) => group === value) ?? "" })
        }
      >
        <option value="">Any state</option>
        {agentGroups.map((group) => (
          <option value={group} key={group}>
            {group}
          </option>
        ))}
      </select>
      <select
        class="filter"
        id="agent-tag"
        aria-label="Tag"
        hidden={tags.length === 0}
        value={tag}
        onChange={({ currentTarget }) => onChange({ tag: currentTarget.value })}
      >
        <option value="">Any tag</option>
        {tags.map((each) => (
          <option value={each} key={each}>
            {each}
          </option>
        ))}
      </select>
      <select
        class="filter"
        id="agent-sort"
        aria-label="Sort by"
        value={filter.sort.by}
        onChange={({ currentTarget }) => onChange({ sort: sortOf(currentTarget.value) })}
      >
        {Object.entries(sortWords).map(([by, words]) => (
          <option value={by} key={by}>
            {by === "name" ? "By name" : words}
          </option>
        ))}
      </select>
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
