import { v5 as uuidV5 } from "uuid";
import type { Trigger } from "../../../streams/vocabulary.ts";
import { Problem } from "../../foundation/errors.ts";
import type { Store } from "../../foundation/store/store.ts";
import type { StartedManual } from "./start-manual.ts";

type Manual = Extract<Trigger, { kind: "manual" }>;

/** The first state of work, and whether an earlier request had started it. */
export interface StartedOnce extends StartedManual {
  readonly repeated?: true;
}

interface KeyedStart {
  readonly agent: string;
  readonly trigger: Manual;
  /** A request with the same key starts nothing more. */
  readonly key: string;
}

/** Any fixed UUID: keys of other programs give other ids. */
const namespace = "1a5096f7-39f9-4202-8182-4090785d7e4f";

/**
 * Starts manual work once for each key of an agent. The id of the work is made of both, so the history itself remembers a
 * key, across restarts, for as long as it keeps the entry.
 */
export function createStartOnce({ originals, history }: Store) {
  const starting = new Map<string, Promise<unknown>>();

  const startedBefore = (id: string, { prompt }: Manual): StartedOnce | null => {
    const trigger = originals.of(id)?.trigger ?? null;
    if (trigger === null) return null;
    if (trigger.kind !== "manual" || trigger.prompt !== prompt) {
      const message = "this idempotency key started the agent with another prompt; use a new key";
      throw new Problem("conflict", message);
    }
    const [entry] = history.query({ id, page: 1, limit: 1 }).triggers;
    const { instanceId = null, outcome = null } = entry ?? {};
    const queued = instanceId === null && outcome === null;
    return { triggerId: id, instanceId, queued, repeated: true };
  };

  return async (
    { agent, trigger, key }: KeyedStart,
    start: (id: string) => Promise<StartedManual>,
  ): Promise<StartedOnce> => {
    const id = uuidV5(JSON.stringify([agent, key]), namespace);
    // A request that failed left no entry: the next one starts the work.
    for (let first = starting.get(id); first !== undefined; first = starting.get(id)) {
      await first.catch(() => undefined);
    }
    const earlier = startedBefore(id, trigger);
    if (earlier !== null) return earlier;
    const started = start(id).finally(() => starting.delete(id));
    starting.set(id, started);
    return started;
  };
}

export type StartOnce = ReturnType<typeof createStartOnce>;
