import { useState } from "preact/hooks";
import type {
  AgentStatus,
  LockStatus,
  LockStatusId,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { useStatus } from "./status.ts";
import { useDocument } from "./use-document.ts";

/** An agent as the status stream keeps it; null if the project does not have it any more. */
export function useAgent(name: string, first: AgentStatus | null): AgentStatus | null {
  const [agent, setAgent] = useState(first);
  const find = (agents: readonly AgentStatus[]) => agents.find((each) => each.name === name);
  useStatus({
    snapshot: ({ agents }) => setAgent(find(agents) ?? null),
    update: ({ agents = [], removed = [] }) => {
      if (removed.includes(name)) setAgent(null);
      const changed = find(agents);
      if (changed !== undefined) setAgent(changed);
    },
  });
  return agent;
}

/** All agents, kept by the status stream; null before its first event. */
export function useAgents(): readonly AgentStatus[] | null {
  const [agents, setAgents] = useState<ReadonlyMap<string, AgentStatus> | null>(null);
  const apply = (now: typeof agents, changed: readonly AgentStatus[], removed: readonly string[]) =>
    new Map([
      ...[...(now ?? [])].filter(([name]) => !removed.includes(name)),
      ...changed.map((agent) => [agent.name, agent] as const),
    ]);
  useStatus({
    snapshot: (snapshot) => setAgents(apply(null, snapshot.agents, [])),
    update: ({ agents: changed = [], removed = [] }) => {
      if (changed.length + removed.length > 0) setAgents((now) => apply(now, changed, removed));
    },
  });
  return agents && [...agents.values()];
}

/** The names of the agents as of the last connect. */
export function useAgentNames(first: readonly string[]): readonly string[] {
  const [names, setNames] = useState(first);
  useStatus({
    snapshot: ({ agents }) => setNames(agents.map(({ name }) => name)),
    update: () => undefined,
  });
  return names;
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

/** The locks that runs hold and wait for, kept by the status stream, by resource. */
export function useLocks(first: readonly LockStatus[]): readonly LockStatus[] {
  const [locks, setLocks] = useState(first);
  useStatus({
    snapshot: (snapshot) => setLocks(snapshot.locks),
    update: ({ locks: changed = [], unlocked = [] }) => {
      const ended = new Set([...changed, ...unlocked].map(lockKey));
      if (ended.size === 0) return;
      setLocks((now) => [...now.filter((lock) => !ended.has(lockKey(lock))), ...changed]);
    },
  });
  return [...locks].sort((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1));
}

/** Names one run's hold of, or wait for, one resource. */
export function lockKey({ resource, instanceId }: LockStatusId): string {
  return `${resource} ${instanceId}`;
}
