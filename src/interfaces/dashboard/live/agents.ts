import type { AgentStatus, LockStatus, StatusUpdate } from "../../../../streams/status/wire.ts";
import { lockKey } from "./apply-update.ts";
import { status } from "./status.ts";
import { useStore } from "./store.ts";
import { useDocument } from "./use-document.ts";

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

/** Whether an update changes an agent, or has a log line about it that no run wrote: mostly a change to its files. */
export function concerns({ agents = [], logs = [] }: StatusUpdate, name: string): boolean {
  return (
    agents.some((agent) => agent.name === name) ||
    logs.some((line) => line.agent === name && line.instanceId === null)
  );
}

interface AgentDocument<T> {
  /** The document that the page was rendered with, if it was. */
  readonly first: T | null | undefined;
  readonly path: () => string;
  readonly pauseMs?: number;
}

/** A document about an agent, which is read again when the agent or its files change. */
export function useAgentDocument<T>(name: string, { path, first, ...options }: AgentDocument<T>) {
  const on = (update: StatusUpdate): boolean => concerns(update, name);
  return useDocument<T>(path, { ...options, first: first ?? null, isQuiet: true, on });
}

/** The locks that runs hold and wait for, by resource. */
export function useLocks(first: readonly LockStatus[]): readonly LockStatus[] {
  const locks = useStore(status, (now) => now?.locks ?? first);
  return [...locks].sort((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1));
}
