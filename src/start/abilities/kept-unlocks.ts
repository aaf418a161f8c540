import type { Store } from "../../store/store.ts";

/** Answers of a run that are kept for requests that it repeats: many more than it can have open. */
const keptUnlocks = 256;

/** What runs were told of locks that they released: who asks again would find nothing to release. */
export interface KeptUnlocks {
  /** What the request was answered with before; undefined when it was not. */
  answer(instanceId: string, id: string): unknown;
  /** Resolves once it is committed. */
  keep(instanceId: string, id: string, answer: unknown): Promise<void>;
  /** The run is over. */
  end(instanceId: string): void;
}

export function createKeptUnlocks(store: Pick<Store["waits"], "answer" | "remember">): KeptUnlocks {
  const kept = new Map<string, string[]>();
  return {
    answer: (instanceId, id) => store.answer(instanceId, id),
    keep: (instanceId, id, answer) => {
      const ids = kept.get(instanceId) ?? [];
      kept.set(instanceId, ids);
      const instead = ids.push(id) > keptUnlocks ? ids.shift() : undefined;
      return store.remember(instanceId, id, answer, instead);
    },
    end: (instanceId) => void kept.delete(instanceId),
  };
}
