import { useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { useAgents } from "../../live/agents.ts";
import { publicPath } from "../../text/base-path.ts";
import { isNarrow, isShown, type AgentFilter } from "./agent-filter.ts";
import { countAgents, type AgentCounts } from "./filters.tsx";
import { placeAgents, useHeldOrder, type PlacedAgent } from "./held-order.ts";
import type { UrgencyGroup } from "../../../views/agent-order.ts";
import { closedGroupsCookie } from "./closed-groups.ts";

/** How many agents that the filter shows are in each group. */
export type GroupCounts = Readonly<Partial<Record<UrgencyGroup, number>>>;

/** The part of the page's data that depends on the agents. */
export interface AgentsData {
  readonly filter: AgentFilter;
  /** The agents of the first screen, in their order. */
  readonly agents: readonly AgentStatus[];
  /** How many agents the filter shows. */
  readonly shown: number;
  readonly groups: GroupCounts;
  readonly counts: AgentCounts;
}

/** Limit of rows: a browser takes seconds for thousands of agents. */
export const mostRows = 500;

/** Agents that the server renders: more than fit on a screen. */
const firstRows = 50;

/** Sorts and counts the agents for the first rendering. */
export function agentsData(agents: readonly AgentStatus[], filter: AgentFilter): AgentsData {
  const now = Date.now();
  const shown = placeAgents(agents.filter(isShown(filter)), filter.sort, now);
  return {
    filter,
    agents: shown.slice(0, firstRows).map(({ agent }) => agent),
    shown: shown.length,
    groups: countGroups(shown),
    counts: countAgents(agents, now),
  };
}

function countGroups(rows: readonly PlacedAgent[]): GroupCounts {
  const groups: Partial<Record<UrgencyGroup, number>> = {};
  for (const { group } of rows) groups[group] = (groups[group] ?? 0) + 1;
  return groups;
}

/** The groups that are closed, and what opens or closes one. */
function useClosedGroups(first: readonly UrgencyGroup[]) {
  const [closed, setClosed] = useState(first);
  const toggle = (group: UrgencyGroup): void => {
    const others = closed.filter((one) => one !== group);
    const next = others.length < closed.length ? others : [...closed, group];
    document.cookie = closedGroupsCookie(next, publicPath("/dashboard"));
    setClosed(next);
  };
  return { closed, toggle };
}

/** The rows of the table as they are now; the server's until the status is known. */
export function useRows(
  first: AgentsData & { readonly closed: readonly UrgencyGroup[] },
  filter: AgentFilter,
) {
  const live = useAgents();
  const agents = live ?? first.agents;
  const order = useHeldOrder(agents, filter.sort, live !== null);
  const { closed, toggle } = useClosedGroups(first.closed);
  const shown =
    live === null ? order.rows : order.rows.filter(({ agent }) => isShown(filter)(agent));
  // A filter finds the agents of closed groups, too.
  const hidden = order.isGrouped && !isNarrow(filter) ? closed : [];
  const rows = shown.slice(0, mostRows);
  const known =
    live === null
      ? first
      : { counts: countAgents(live, Date.now()), shown: shown.length, groups: countGroups(shown) };
  return {
    ...order,
    rows,
    agents,
    visible: rows.filter(({ group }) => !hidden.includes(group)).map(({ agent }) => agent),
    counts: known.counts,
    shown: known.shown,
    groups: order.isGrouped ? known.groups : null,
    closed: hidden,
    toggle,
  };
}
