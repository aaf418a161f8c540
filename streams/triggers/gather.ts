import type { Debounce } from "../agent-config.ts";
import { createMachine, type Machine } from "../machine.ts";
import type { AgentGathering } from "../vocabulary.ts";

/** The stored deliveries of one key of an agent, which start one run together. Times are epoch ms. */
export interface Gathering {
  readonly agent: string;
  /** Empty without a key: all deliveries of the agent gather together. */
  readonly key: string;
  /** Arrival of the first delivery, even if it was dropped since. */
  readonly since: number;
  /** Arrival of the latest delivery. */
  readonly last: number;
  /** Number of stored deliveries; 0 once they started a run. */
  readonly count: number;
}

export type GatherCommand =
  /** The stored deliveries of a key changed. */
  | { readonly type: "stored"; readonly gathering: Gathering }
  /** The agent's config changed. */
  | { readonly type: "agent"; readonly agent: string }
  /** The clock shows an earlier time than before. */
  | { readonly type: "set-back" };

export type GatherEvent =
  | { readonly type: "due"; readonly agent: string; readonly key: string }
  /** Null without deliveries that gather. */
  | {
      readonly type: "gathering";
      readonly agent: string;
      readonly gathering: AgentGathering | null;
    };

interface Open {
  readonly gathering: Gathering;
  readonly cancelTimer: () => void;
}

/**
 * Derives from stored deliveries when they start a run: once none came for `quiet`, at the latest `most` after the first.
 * `debounceOf` gives null for an agent whose deliveries no longer gather: stored ones are due at once.
 *
 *     stored:  ─1─2───────1─2─3─4─5──────    the number of deliveries; quiet is 4 columns, most is 7
 *     due:     ───────d──────────d───d───
 */
export function createGatherings(
  debounceOf: (agent: string) => Debounce | null,
): Machine<GatherCommand, GatherEvent> {
  const agents = new Map<string, Map<string, Open>>();

  return createMachine<GatherCommand, GatherEvent>(({ emit, timers, now }) => {
    const forget = ({ agent, key }: Gathering): void => {
      const open = agents.get(agent);
      open?.get(key)?.cancelTimer();
      open?.delete(key);
      if (open?.size === 0) agents.delete(agent);
    };
    const report = (agent: string): void => {
      const open = [...(agents.get(agent)?.values() ?? [])].map(({ gathering }) => gathering);
      emit({ type: "gathering", agent, gathering: totalOf(open, debounceOf(agent), now()) });
    };
    const fire = (gathering: Gathering): void => {
      const { agent, key } = gathering;
      forget(gathering);
      emit({ type: "due", agent, key });
      report(agent);
    };
    const set = (stored: Gathering): void => {
      const { agent, key } = stored;
      // Arrivals in the future (clock set back) are reset to now, once: a busy key must not gather for longer than `most`.
      const known = agents.get(agent)?.get(key)?.gathering.since ?? Infinity;
      const since = Math.min(stored.since, now(), known);
      forget(stored);
      const gathering = { ...stored, since, last: Math.min(stored.last, now()) };
      const startsAt = startOf(gathering, debounceOf(agent), now());
      const cancelTimer = timers.at(startsAt, () => fire(gathering));
      const open = agents.get(agent) ?? new Map<string, Open>();
      agents.set(agent, open.set(key, { gathering, cancelTimer }));
    };
    const again = (agent: string): void => {
      const open = agents.get(agent);
      if (open === undefined) return;
      for (const { gathering } of [...open.values()]) set(gathering);
      report(agent);
    };
    return (command) => {
      switch (command.type) {
        case "stored": {
          const { gathering } = command;
          const isKnown = agents.get(gathering.agent)?.has(gathering.key) ?? false;
          if (gathering.count > 0) set(gathering);
          else forget(gathering);
          return isKnown || gathering.count > 0 ? report(gathering.agent) : undefined;
        }
        case "agent":
          return again(command.agent);
        case "set-back":
          return [...agents.keys()].forEach(again);
      }
    };
  });
}

/** The gathering deliveries of one agent, over all keys; null for none. */
export function totalOf(
  gatherings: readonly Gathering[],
  debounce: Debounce | null,
  now: number,
): AgentGathering | null {
  if (gatherings.length === 0) return null;
  const deliveries = gatherings.reduce((sum, { count }) => sum + count, 0);
  return {
    deliveries,
    startsAt: Math.min(...gatherings.map((one) => startOf(one, debounce, now))),
  };
}

/** When its run starts; now for an agent that no longer gathers. */
function startOf({ since, last }: Gathering, debounce: Debounce | null, now: number): number {
  return debounce === null ? now : Math.min(last + debounce.quietMs, since + debounce.mostMs);
}
