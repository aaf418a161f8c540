import type { AgentConfig } from "../../../streams/agent-config.ts";
import {
  BindingIndex,
  conditionsAgainst,
  indexedBinding,
  letsThrough,
  reasonsAgainst,
} from "./binding-index.ts";
import type { MatchInput, IndexedBinding } from "./binding-index.ts";

/** What the index needs to know of an agent. */
export type ListeningAgent = Pick<AgentConfig, "name" | "scale" | "webhooks">;

/** Which agents an event starts, and why it starts no other. */
export interface MatchResult {
  /** Agents to start, by name, each once. */
  readonly matched: readonly string[];
  /** Agents whose filters let the event through and that are disabled. */
  readonly disabled: readonly string[];
  /** Null when an agent's filters let the event through; else what came closest, such as `agent dev: repos does not include acme/x`. */
  readonly reason: string | null;
  /** How many bindings were looked at: what the event cost. */
  readonly examined: number;
}

interface Entry {
  readonly scale: number;
  readonly enabled: boolean;
  readonly bindings: readonly { readonly source: string; readonly binding: IndexedBinding }[];
}

/**
 * So many bindings are asked why they did not match. The closest of more is not worth the time: deliveries that
 * match nothing are the ones a stranger can send most of.
 */
const maxExplained = 50;

/**
 * An index of which agents listen to what, empty at first and changed an agent at a time. An event costs as much as the bindings that share a value with it, however many
 * agents there are.
 */
export function createMatchIndex() {
  const agents = new Map<string, Entry>();
  const sources = new Map<string, BindingIndex>();

  const remove = (name: string): void => {
    for (const { source, binding } of agents.get(name)?.bindings ?? []) {
      const index = sources.get(source);
      index?.delete(binding);
      if (index?.isEmpty) sources.delete(source);
    }
    agents.delete(name);
  };

  const set = (agent: ListeningAgent, enabled: boolean): void => {
    remove(agent.name);
    const bindings = agent.webhooks.map((webhook) => ({
      source: webhook.source,
      binding: indexedBinding(agent.name, webhook),
    }));
    agents.set(agent.name, { scale: agent.scale, enabled, bindings });
    for (const { source, binding } of bindings) {
      const index = sources.get(source) ?? new BindingIndex();
      sources.set(source, index);
      index.add(binding);
    }
  };

  return {
    /** Files an agent's bindings in place of those it had. `enabled` is the operator's switch; `scale = 0` disables too. */
    set,
    remove,
    /** Turns the operator's switch of a known agent. */
    setEnabled: (name: string, enabled: boolean): void => {
      const entry = agents.get(name);
      if (entry) agents.set(name, { ...entry, enabled });
    },
    /** Matches one event of a source. Any binding that lets it through matches its agent, once. */
    match: (source: string, event: MatchInput): MatchResult => {
      const index = sources.get(source);
      if (index === undefined) return noMatch(`no agent listens to source ${source}`);
      return matchIn(index, event, (name) => {
        const entry = agents.get(name);
        return entry !== undefined && entry.enabled && entry.scale > 0;
      });
    },
  };
}

export type MatchIndex = ReturnType<typeof createMatchIndex>;

function matchIn(
  index: BindingIndex,
  event: MatchInput,
  isEnabled: (agent: string) => boolean,
): MatchResult {
  const candidates = index.candidates(event.attributes);
  const names = new Set<string>();
  for (const binding of candidates) {
    if (names.has(binding.agent)) continue;
    if (letsThrough(binding, event)) names.add(binding.agent);
  }
  if (names.size === 0) return closest(index, candidates, event);
  const all = [...names].sort();
  return {
    matched: all.filter(isEnabled),
    disabled: all.filter((name) => !isEnabled(name)),
    reason: null,
    examined: candidates.size,
  };
}

/** The binding that came closest: fewest failed conditions first, then most conditions, then the agent filed first. */
function closest(
  index: BindingIndex,
  candidates: Set<IndexedBinding>,
  event: MatchInput,
): MatchResult {
  const asked = some(candidates, index.all);
  let best: { readonly binding: IndexedBinding; readonly against: number } | null = null;
  for (const binding of asked) {
    const against = conditionsAgainst(binding, event);
    if (best === null || isCloser(binding, against, best)) best = { binding, against };
  }
  const examined = candidates.size + asked.size;
  return { ...noMatch(best === null ? "" : whyNotThis(best.binding, event)), examined };
}

function isCloser(
  binding: IndexedBinding,
  against: number,
  than: { readonly binding: IndexedBinding; readonly against: number },
): boolean {
  const fewer = against - than.against;
  return fewer < 0 || (fewer === 0 && conditionsOf(binding) > conditionsOf(than.binding));
}

function conditionsOf({ filters, where }: IndexedBinding): number {
  return filters.length + Object.keys(where).length;
}

function whyNotThis(binding: IndexedBinding, event: MatchInput): string {
  const reasons = reasonsAgainst(binding, event);
  const reason = `agent ${binding.agent}: ${reasons[0] ?? ""}`;
  return reasons.length > 1
    ? `${reason} (and ${reasons.length - 1} more of its conditions)`
    : reason;
}

/** The first of these, each once. */
function some(...sets: readonly ReadonlySet<IndexedBinding>[]): Set<IndexedBinding> {
  const found = new Set<IndexedBinding>();
  for (const set of sets) {
    for (const binding of set) {
      if (found.size === maxExplained) return found;
      found.add(binding);
    }
  }
  return found;
}

function noMatch(reason: string): MatchResult {
  return { matched: [], disabled: [], reason, examined: 0 };
}
