import type { AgentStatus } from "../../../../streams/status/wire.ts";

/** What agents are sorted by, with the words of the choice. The first is the usual one. */
export const sortWords = {
  name: "Name",
  errors: "Errors first",
  "last-run": "Last run",
  duration: "Duration",
  "next-run": "Next run",
  cost: "Cost today",
} as const;
export type SortBy = keyof typeof sortWords;

/** An order of agents; each begins with what is looked for most, such as the latest run. */
export interface Sort {
  readonly by: SortBy;
  readonly isReversed: boolean;
}

/** The order of an address: `cost`, or `-cost` for the other way round. */
export function sortOf(text: string): Sort {
  const isReversed = text.startsWith("-");
  const by = sortings.find((name) => name === text.slice(isReversed ? 1 : 0));
  return by === undefined ? { by: "name", isReversed: false } : { by, isReversed };
}

const sortings = ["name", "errors", "last-run", "duration", "next-run", "cost"] as const;

/** Whether the highest value comes first, by which a screen reader names the order. */
export function isDescending({ by, isReversed }: Sort): boolean {
  return (by === "last-run" || by === "duration" || by === "cost") !== isReversed;
}

/** Agents in their order; those without a value come last either way, and equal ones by name. */
export function sortAgents(
  agents: Iterable<AgentStatus>,
  { by, isReversed }: Sort,
  now: number,
): readonly AgentStatus[] {
  const sign = isReversed ? -1 : 1;
  const ranked = [...agents].map((agent) => ({ agent, rank: rankOf(agent, by, now) }));
  return ranked
    .sort((a, b) => {
      const names = a.agent.name < b.agent.name ? -1 : 1;
      if (by === "name") return sign * names;
      if (a.rank === b.rank) return names;
      if (a.rank === null || b.rank === null) return a.rank === null ? 1 : -1;
      return sign * (a.rank - b.rank);
    })
    .map(({ agent }) => agent);
}

const stateRanks = { error: 0, blocked: 0, building: 1, running: 2, idle: 3 } as const;

/** The lower, the earlier in the list; null where there is nothing to sort by. */
function rankOf(agent: AgentStatus, by: SortBy, now: number): number | null {
  const { state, enabled, lastRunAt, lastDurationMs, running, nextRunAt, spentToday } = agent;
  switch (by) {
    case "name":
      return 0;
    case "errors":
      return stateRanks[state] + (enabled ? 0 : 0.5);
    case "last-run":
      return lastRunAt === null ? null : -Date.parse(lastRunAt);
    case "duration":
      if (running > 0 && lastRunAt !== null) return Date.parse(lastRunAt) - now;
      return lastDurationMs === null ? null : -lastDurationMs;
    case "next-run":
      return nextRunAt === null || !enabled ? null : Date.parse(nextRunAt);
    case "cost":
      return spentToday === null || Date.parse(spentToday.endsAt) <= now ? null : -spentToday.usd;
  }
}
