import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { sortOf } from "./agent-order.ts";
import type { Sort } from "./agent-order.ts";

/** Which agents the overview shows, and in which order: what its address holds. */
export interface AgentFilter {
  /** Words that all must be met. */
  readonly q: string;
  /** Empty for any. */
  readonly state: AgentGroup | "";
  /** Empty for any. */
  readonly tag: string;
  readonly sort: Sort;
}

/** What an agent is counted as; one that is disabled counts as that beside its state. */
export const agentGroups = ["error", "running", "idle", "disabled", "building", "blocked"] as const;
export type AgentGroup = (typeof agentGroups)[number];

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

/** The query of a filter's address; what is as usual is not in it. */
export function queryOf({ q, state, tag, sort }: AgentFilter): string {
  const order = `${sort.isReversed ? "-" : ""}${sort.by}`;
  const given = Object.entries({ q: q.trim(), state, tag, sort: order === "name" ? "" : order });
  return new URLSearchParams(given.filter(([, value]) => value !== "")).toString();
}

/** Whether it leaves agents out. */
export function isNarrow({ q, state, tag }: AgentFilter): boolean {
  return q.trim() !== "" || state !== "" || tag !== "";
}

/** The groups that an agent counts in. */
export function groupsOf({ state, enabled }: AgentStatus): readonly AgentGroup[] {
  return enabled ? [state] : [state, "disabled"];
}

/** Whether an agent is shown. */
export function meets(agent: AgentStatus, filter: AgentFilter): boolean {
  const { q, state, tag } = filter;
  if (state !== "" && !groupsOf(agent).includes(state)) return false;
  if (tag !== "" && !agent.tags.includes(tag)) return false;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 || hasWords(agent, words);
}

/**
 * A part of a name is enough. State and triggers are met by whole words: `web` is to find the agents of the web team, not
 * all that a webhook starts.
 */
function hasWords(agent: AgentStatus, words: readonly string[]): boolean {
  const { name, title, tags, triggers } = agent;
  const names = [name, title, ...tags].join(" ").toLowerCase();
  const whole = [...groupsOf(agent), ...triggers].join(" ").toLowerCase().split(" ");
  return words.every((word) => names.includes(word) || whole.includes(word));
}
