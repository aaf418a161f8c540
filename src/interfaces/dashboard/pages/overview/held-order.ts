import { useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { sortAgents, type Sort } from "./agent-filter.ts";
import { urgencyGroupOf, urgencyGroups, type UrgencyGroup } from "../../../views/agent-order.ts";

/** A row of the table: an agent in the group that it had when the rows were sorted. */
export interface PlacedAgent {
  readonly agent: AgentStatus;
  readonly group: UrgencyGroup;
}

interface Place {
  readonly group: UrgencyGroup;
  readonly place: number;
}

/** Sorts agents; `now` is epoch ms. */
export function placeAgents(
  agents: readonly AgentStatus[],
  sort: Sort,
  now: number,
): readonly PlacedAgent[] {
  return sortAgents(agents, sort, now).map((agent) => ({ agent, group: urgencyGroupOf(agent) }));
}

/**
 * Keeps the order and the groups of the rows while the page is open, because a click must not hit another agent: rows are
 * sorted when the page is loaded, and when the reader asks. New agents come last in their group.
 */
export function useHeldOrder(agents: readonly AgentStatus[], sort: Sort, isComplete: boolean) {
  const [round, setRound] = useState(0);
  const asked = [sort.by, sort.isReversed, round, isComplete].join();
  const held = useRef({ asked: "", places: new Map<string, Place>() });
  const sorted = placeAgents(agents, sort, Date.now());
  if (held.current.asked !== asked) held.current = { asked, places: new Map() };
  const { places } = held.current;
  for (const { agent, group } of sorted)
    if (!places.has(agent.name)) places.set(agent.name, { group, place: places.size });
  const isGrouped = sort.by === "errors";
  const sign = sort.isReversed ? -1 : 1;
  const rows = sorted
    .map(({ agent, group }) => ({ agent, group, place: 0, ...places.get(agent.name) }))
    .sort((a, b) => {
      const groups = urgencyGroups.indexOf(a.group) - urgencyGroups.indexOf(b.group);
      return isGrouped && groups !== 0 ? sign * groups : a.place - b.place;
    });
  const isStale = rows.some(({ agent }, index) => agent !== sorted[index]?.agent);
  return { rows, isGrouped, isStale, sortAgain: () => setRound(round + 1) };
}
