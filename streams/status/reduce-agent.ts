import { problemSummary } from "../problem-text.ts";
import { needsImage, type AgentConfig } from "../agent-config.ts";
import type { Diagnostic, RunEvent } from "../vocabulary.ts";
import { outcomeRows } from "../outcomes.ts";
import { runErrorOf, unmetError, type AgentRecord } from "./agent-record.ts";

/** (record, event) → record; the same object if the event changes nothing of it. Pure. */
export function reduceAgent(record: AgentRecord, event: RunEvent): AgentRecord {
  switch (event.type) {
    case "agent-set":
    case "agent-invalid":
    case "agent-removed":
    case "agent-enabled":
      return reduceConfig(record, event);
    case "agent-requirements":
      return { ...record, ...withUnmet(record, event.unmet) };
    case "build-started":
      return { ...record, building: true, statusText: event.text };
    case "build-progress":
      return { ...record, statusText: event.text };
    case "build-finished":
      return { ...record, building: false, statusText: null, buildError: event.error };
    case "next-run":
      return { ...record, nextRunAt: event.nextRunAt };
    case "queue-depth":
      return { ...record, queued: event.depth };
    case "started":
    case "status-text":
    case "blocked":
    case "finished":
      return reduceRun(record, event);
    case "used-budget":
      return { ...record, ...withUsedBudget(record, event.budget) };
    case "spent":
      return reduceSpending(record, event);
    case "queued":
    case "refused":
    case "missed":
    case "late":
    case "taken":
    case "output":
      return record;
  }
}

type ConfigEvent = Extract<
  RunEvent,
  { type: "agent-set" | "agent-invalid" | "agent-removed" | "agent-enabled" }
>;

function reduceConfig(record: AgentRecord, event: ConfigEvent): AgentRecord {
  switch (event.type) {
    case "agent-set":
      return { ...record, ...withConfig(record, event.config) };
    case "agent-invalid":
      return { ...record, removed: false, configError: configError(event.problems) };
    case "agent-removed":
      return { ...record, removed: true };
    case "agent-enabled":
      return { ...record, enabled: event.enabled };
  }
}

/** Once no requirement prevents a start, the error of a run rejected for that is cleared. */
function withUnmet(record: AgentRecord, unmet: readonly Diagnostic[]): Partial<AgentRecord> {
  const recovers = unmetError(record.unmet) !== null && unmetError(unmet) === null;
  return recovers && record.lastOutcome === "rejected" ? { unmet, runError: null } : { unmet };
}

/** Once a budget pays again, the error of the run that exceeded it, with its advice to raise it, is cleared. */
function withUsedBudget(
  { usedBudget: before, lastOutcome, runError }: AgentRecord,
  usedBudget: AgentRecord["usedBudget"],
): Partial<AgentRecord> {
  const recovers = before !== null && usedBudget === null && lastOutcome === "over_budget";
  return { usedBudget, runError: recovers ? null : runError };
}

/** An agent outside of containers has no image that could be built or broken. */
function withConfig(record: AgentRecord, config: AgentConfig): Partial<AgentRecord> {
  const given = { config, removed: false, configError: null };
  if (needsImage(config)) return given;
  const statusText = record.building ? null : record.statusText;
  return { ...given, building: false, buildError: null, statusText };
}

type RunningEvent = Extract<RunEvent, { type: "started" | "status-text" | "blocked" | "finished" }>;

function reduceRun(record: AgentRecord, event: RunningEvent): AgentRecord {
  switch (event.type) {
    case "started":
      return {
        ...record,
        running: record.running + 1,
        lastRunAt: event.startedAt ?? event.at,
        statusText: null,
      };
    case "status-text":
      return { ...record, statusText: event.text, moneyWaits: moneyWaitsAfter(record, event) };
    case "blocked": {
      const others = withoutRun(record.blocked, event.instanceId);
      if (event.reason === null) return { ...record, blocked: others };
      return { ...record, blocked: new Map([...others, [event.instanceId, event.reason]]) };
    }
    case "finished":
      return {
        ...record,
        running: record.running - 1,
        blocked: withoutRun(record.blocked, event.instanceId),
        lockWaits: withoutRun(record.lockWaits, event.instanceId),
        moneyWaits: moneyWaitsAfter(record, event),
        runCosts: withoutRun(record.runCosts, event.instanceId),
        lastDurationMs: event.at - event.startedAt,
        lastOutcome: event.end.outcome,
        // A run ended by a person neither fails nor clears an earlier failure.
        runError:
          outcomeRows[event.end.outcome].kind === "ended" ? record.runError : runErrorOf(event.end),
      };
  }
}

function moneyWaitsAfter(
  { moneyWaits }: AgentRecord,
  event: Extract<RunEvent, { type: "status-text" | "finished" }>,
): AgentRecord["moneyWaits"] {
  const { instanceId } = event;
  const waits = event.type === "status-text" && event.needsMoney === true;
  if (waits === moneyWaits.has(instanceId)) return moneyWaits;
  const others = [...moneyWaits].filter((id) => id !== instanceId);
  return new Set(waits ? [...others, instanceId] : others);
}

type SpentEvent = Extract<RunEvent, { type: "spent" }>;

/** A call may be settled after its run has ended: it then counts for the day only. */
function reduceSpending(record: AgentRecord, event: SpentEvent): AgentRecord {
  const { instanceId, usd, today } = event;
  const { runCosts, running, today: known } = record;
  const isSame = known?.usd === today.usd && known.endsAt === today.endsAt;
  if (isSame && (running === 0 || runCosts.get(instanceId) === usd)) return record;
  if (running === 0) return { ...record, today };
  return { ...record, today, runCosts: new Map([...runCosts, [instanceId, usd]]) };
}

/** The map without a run; the same map if it lacks the run. */
export function withoutRun<T>(
  byRun: ReadonlyMap<string, T>,
  instanceId: string,
): ReadonlyMap<string, T> {
  if (!byRun.has(instanceId)) return byRun;
  return new Map([...byRun].filter(([id]) => id !== instanceId));
}

function configError(problems: readonly Diagnostic[]): string {
  return (
    problemSummary(problems.filter(({ severity }) => severity === "error")) ?? "invalid config"
  );
}
