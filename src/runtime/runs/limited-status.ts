import type {
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../streams/status/wire.ts";
import { agentOf } from "../../foundation/logs/log-reader.ts";
import type { IsMine } from "../../foundation/operation.ts";
import type { StatusStore } from "../../foundation/scheduler/status-store.ts";

/** The status, and its counts of alerts and questions for some of the agents. */
export interface StatusContext {
  readonly status: StatusStore;
  readonly countsOf: (isMine: IsMine) => Pick<SchedulerStatus, "alerts" | "questions">;
}

/** The scheduler with counts of these agents only, and without the project's problems, which may name others. */
export function limitedScheduler(context: StatusContext, isMine: IsMine): SchedulerStatus {
  const { scheduler, agents } = context.status.snapshot();
  const mine = agents.filter(({ name }) => isMine(name));
  return {
    ...scheduler,
    running: mine.reduce((sum, { running }) => sum + running, 0),
    cronJobs: mine.filter(({ triggers }) => triggers.some((one) => one.startsWith("schedule ")))
      .length,
    webhookSources: [],
    error: null,
    warnings: [],
    ...context.countsOf(isMine),
  };
}

/** The snapshot with these agents only. */
export function limitedSnapshot(context: StatusContext, isMine: IsMine): StatusSnapshot {
  const { agents, recentLogs, locks } = context.status.snapshot();
  return {
    scheduler: limitedScheduler(context, isMine),
    agents: agents.filter(({ name }) => isMine(name)),
    recentLogs: recentLogs.filter(({ agent }) => isMine(agent)),
    locks: locks.filter(({ agent }) => isMine(agent)),
  };
}

/** The change of these agents only; null without one. */
export function limitedUpdate(
  update: StatusUpdate,
  context: StatusContext,
  isMine: IsMine,
): StatusUpdate | null {
  const { scheduler, agents, removed, logs, locks, unlocked } = update;
  const parts = {
    scheduler: scheduler && limitedScheduler(context, isMine),
    agents: some(agents, ({ name }) => isMine(name)),
    removed: some(removed, isMine),
    logs: some(logs, ({ agent }) => isMine(agent)),
    locks: some(locks, ({ agent }) => isMine(agent)),
    unlocked: some(unlocked, ({ instanceId }) => isMine(agentOf(instanceId))),
  };
  const given = Object.entries(parts).filter(([, part]) => part !== undefined);
  return given.length === 0 ? null : Object.fromEntries(given);
}

function some<T>(rows: readonly T[] | undefined, isShown: (row: T) => boolean) {
  const shown = rows?.filter(isShown);
  return shown === undefined || shown.length === 0 ? undefined : shown;
}
