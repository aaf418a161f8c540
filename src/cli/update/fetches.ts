import { fetchRepository } from "../../skills/fetch-repository.ts";
import type { FetchedRepository } from "../../skills/fetch-repository.ts";

/** Repositories that are fetched once for all agents that come from them. */
export interface Fetches {
  get(url: string): Promise<FetchedRepository>;
  /** Removes all that was fetched. */
  remove(): Promise<void>;
}

/** Fetches nothing until it is asked. */
export function openFetches(env: NodeJS.ProcessEnv, signal: AbortSignal): Fetches {
  const fetched = new Map<string, Promise<FetchedRepository>>();
  return {
    get: (url) => {
      const known = fetched.get(url) ?? fetchRepository(url, { env, signal });
      fetched.set(url, known);
      return known;
    },
    remove: async () => {
      const settled = await Promise.allSettled(fetched.values());
      const there = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(there.map((repository) => repository.remove()));
    },
  };
}
