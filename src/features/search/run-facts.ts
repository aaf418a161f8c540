import type { Outcome } from "../../../streams/vocabulary.ts";
import { openStoreReader } from "../../foundation/store/store-reader.ts";

/** How a run ended and what it cost; null for what is not known. */
export interface RunFacts {
  readonly outcome: Outcome | null;
  readonly usd: number | null;
}

export interface RunFactsReader {
  /** Lines of no run have none. */
  of(instanceId: string | null): RunFacts;
  close(): void;
}

const unknown: RunFacts = { outcome: null, usd: null };

/** Reads what the store has of runs. Without a store, or with one of another version, nothing is known of them. */
export function openRunFacts(projectDir: string): RunFactsReader {
  const store = openOrNull(projectDir);
  const known = new Map<string, RunFacts>();
  const read = (instanceId: string): RunFacts => {
    const entry = store?.runs.find(instanceId)?.entry;
    return entry === undefined ? unknown : { outcome: entry.outcome, usd: entry.costUsd };
  };
  return {
    of: (instanceId) => {
      if (instanceId === null) return unknown;
      const facts = known.get(instanceId) ?? read(instanceId);
      known.set(instanceId, facts);
      return facts;
    },
    close: () => store?.close(),
  };
}

function openOrNull(projectDir: string): ReturnType<typeof openStoreReader> {
  try {
    return openStoreReader(projectDir);
  } catch {
    return null;
  }
}
