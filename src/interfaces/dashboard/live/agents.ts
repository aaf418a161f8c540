import type { AgentStatus, LockStatus } from "../../../../streams/status/wire.ts";
import { lockKey } from "./apply-update.ts";
import { status } from "./status.ts";
import { useStore } from "./store.ts";

/** An agent as it is now; null if the project does not have it any more. */
export function useAgent(name: string, first: AgentStatus | null): AgentStatus | null {
  return useStore(status, (now) => {
    if (now === null) return first;
    return now.agents.find((agent) => agent.name === name) ?? null;
  });
}

/** All agents; null before the status is known. */
export function useAgents(): readonly AgentStatus[] | null {
  return useStore(status, (now) => now?.agents ?? null);
}

/** The names of the agents. */
export function useAgentNames(first: readonly string[]): readonly string[] {
  const names = useStore(status, (now) =>
    (now?.agents.map(({ name }) => name) ?? first).join("\n"),
  );
  return names === "" ? [] : names.split("\n");
}

/** The locks that runs hold and wait for, by resource. */
export function useLocks(first: readonly LockStatus[]): readonly LockStatus[] {
  const locks = useStore(status, (now) => now?.locks ?? first);
  return [...locks].sort((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1));
}
