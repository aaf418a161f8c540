import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { BindingIndex, conditionsAgainst, indexedBinding, letsThrough } from "./binding-index.ts";
import type { FailedCondition, IndexedBinding, MatchInput } from "./binding-index.ts";

/** The part of an agent's config that the index reads. */
export type ListeningAgent = Pick<AgentConfig, "name" | "scale" | "webhooks">;

/** Which agents an event starts, and why it starts no other. */
export interface MatchResult {
  /** Agents to start, by name, each once. */
  readonly matched: readonly string[];
  /** Agents whose filters let the event through and that are disabled. */
  readonly disabled: readonly string[];
  /** Null if an agent's filters let the event through; else the closest entry, such as `agent dev: repos does not include acme/x`. */
  readonly reason: string | null;
  /** How many bindings were examined: the cost of the event. */
  readonly examined: number;
}

interface Entry {
  readonly scale: number;
  readonly enabled: boolean;
  readonly bindings: readonly { readonly source: string; readonly binding: IndexedBinding }[];
}

/**
 * How many bindings are explained. Finding the closest of more is not worth the time: strangers can send any number of
 * unmatched deliveries.
 */
const maxExplained = 50;

/**
 * An index of the bindings of agents, empty at first and changed an agent at a time. An event costs as much as the
 * bindings that share a value with it, however many agents there are.
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
    /** Enables or disables a known agent by the operator's switch. */
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
  let best: Asked | null = null;
  for (const binding of asked) {
    const against = conditionsAgainst(binding, event);
    if (best === null || isCloser({ binding, against }, best)) best = { binding, against };
  }
  const examined = candidates.size + asked.size;
  return { ...noMatch(best === null ? "" : reasonOf(best)), examined };
}

interface Asked {
  readonly binding: IndexedBinding;
  readonly against: readonly FailedCondition[];
}

function isCloser(one: Asked, than: Asked): boolean {
  const fewer = one.against.length - than.against.length;
  return fewer < 0 || (fewer === 0 && conditionsOf(one.binding) > conditionsOf(than.binding));
}

function conditionsOf({ filters, where }: IndexedBinding): number {
  return filters.length + Object.keys(where).length;
}

function reasonOf({ binding, against }: Asked): string {
  const reason = `agent ${binding.agent}: ${against[0]?.why ?? ""}`;
  return against.length > 1
    ? `${reason} (and ${against.length - 1} more of its conditions)`
    : reason;
}

/** The first items of these sets, each once. */
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

const maxNamed = 3;

/** Remembers agents with an invalid config, for the reason of a delivery that started nothing. */
export function createBrokenAgents() {
  /** Sources of the last valid config, which stays active. */
  const active = new Map<string, readonly string[]>();
  /** Sources that the invalid config names. */
  const broken = new Map<string, readonly string[]>();
  return {
    onEvent: (event: RunEvent): void => {
      if (event.type === "agent-set") {
        active.set(
          event.agent,
          event.config.webhooks.map(({ source }) => source),
        );
        broken.delete(event.agent);
      }
      if (event.type === "agent-invalid") broken.set(event.agent, event.sources);
      if (event.type === "agent-removed") {
        active.delete(event.agent);
        broken.delete(event.agent);
      }
    },
    /** The result; a reason why nothing ran names the agents of the source that could not be matched. */
    explain: (source: string, result: MatchResult): MatchResult => {
      if (result.reason === null || broken.size === 0) return result;
      const names = [...broken.keys()].sort();
      const old = names.filter((name) => active.get(name)?.includes(source));
      const none = names.filter(
        (name) => !old.includes(name) && broken.get(name)?.includes(source),
      );
      const more = [
        ...(none.length === 0
          ? []
          : [`not checked, because the config is invalid: ${namesText(none)}`]),
        ...(old.length === 0 ? [] : [`checked with the last valid config: ${namesText(old)}`]),
      ];
      return { ...result, reason: [result.reason, ...more].join("; ") };
    },
  };
}

function namesText(found: readonly string[]): string {
  const more = found.length - maxNamed;
  return `agent ${found.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
