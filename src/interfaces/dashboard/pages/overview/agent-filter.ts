import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { hasWords, urgencyOf } from "../../../views/agent-order.ts";

/** Which agents the overview shows, and in which order: the page's address holds it. */
export interface AgentFilter {
  /** Words that an agent must have, all of them. */
  readonly q: string;
  /** Empty for any. */
  readonly state: AgentGroup | "";
  /** Empty for any. */
  readonly tag: string;
  readonly sort: Sort;
}

/** Groups for counting agents; a disabled agent counts in its state's group, too. */
export const agentGroups = [
  "error",
  "running",
  "idle",
  "disabled",
  "blocked",
  "waiting",
  "building",
] as const;
export type AgentGroup = (typeof agentGroups)[number];

/** Sort keys and their words; the first is the default. */
export const sortWords = {
  errors: "By urgency",
  name: "Name",
  "last-run": "Last run",
  duration: "Duration",
  "next-run": "Next run",
  cost: "Cost today",
} as const;
export type SortBy = keyof typeof sortWords;

/** An order of agents; each begins with the value that readers want first, such as the latest run. */
export interface Sort {
  readonly by: SortBy;
  readonly isReversed: boolean;
}

/** The filter of an address. */
export function filterOf(query: URLSearchParams): AgentFilter {
  const state = query.get("state");
  return {
    q: query.get("q") ?? "",
    state: agentGroups.find((group) => group === state) ?? "",
    tag: query.get("tag") ?? "",
    sort: sortOf(query.get("sort") ?? ""),
  };
}

/** The query of a filter's address, without default values. */
export function queryOf({ q, state, tag, sort }: AgentFilter): string {
  const order = `${sort.isReversed ? "-" : ""}${sort.by}`;
  const given = Object.entries({ q: q.trim(), state, tag, sort: order === "errors" ? "" : order });
  return new URLSearchParams(given.filter(([, value]) => value !== "")).toString();
}

/** The order of an address: `cost`, or `-cost` for the other way round. */
export function sortOf(text: string): Sort {
  const isReversed = text.startsWith("-");
  const by = text.slice(isReversed ? 1 : 0);
  return isSortBy(by) ? { by, isReversed } : { by: "errors", isReversed: false };
}

function isSortBy(text: string): text is SortBy {
  return Object.hasOwn(sortWords, text);
}

/** Whether the highest value comes first, by which a screen reader names the order. */
export function isDescending({ by, isReversed }: Sort): boolean {
  return (by === "last-run" || by === "duration" || by === "cost") !== isReversed;
}

/** Whether the filter hides agents. */
export function isNarrow({ q, state, tag }: AgentFilter): boolean {
  return q.trim() !== "" || state !== "" || tag !== "";
}

/** The groups that an agent counts in. */
export function groupsOf({ state, enabled }: AgentStatus): readonly AgentGroup[] {
  return enabled ? [state] : [state, "disabled"];
}

/** Whether a filter shows an agent. */
export function isShown({ q, state, tag }: AgentFilter): (agent: AgentStatus) => boolean {
  return (agent) =>
    (state === "" || groupsOf(agent).includes(state)) &&
    (tag === "" || agent.tags.includes(tag)) &&
    hasWords(agent, q);
}

/** Agents without a value come last either way, and equal ones are ordered by name; `now` is epoch ms. */
export function sortAgents(
  agents: readonly AgentStatus[],
  { by, isReversed }: Sort,
  now: number,
): readonly AgentStatus[] {
  const sign = isReversed ? -1 : 1;
  const ranked = agents.map((agent) => ({ agent, rank: rankOf(agent, by, now) }));
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

/** The lower, the earlier in the list; null without a value to sort by. */
function rankOf(agent: AgentStatus, by: SortBy, now: number): number | null {
  const { enabled, lastRunAt, lastDurationMs, running, nextRunAt, spentToday } = agent;
  switch (by) {
    case "name":
      return 0;
    case "errors":
      return urgencyOf(agent);
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
