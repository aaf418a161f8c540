import { nanoOfUsd, usdOfNano } from "../foundation/contracts/money.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { Schedule } from "../../streams/triggers/next-tick.ts";
import type { Problem, RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import type { SpendMeter } from "../foundation/contracts/spend.ts";
import { messageOf } from "../foundation/errors.ts";
import type { BudgetHolds } from "../features/spend/budget-holds.ts";
import type { Store } from "../foundation/store/store.ts";
import type { Alerts } from "../features/alerts/alerts.ts";
import type { FirstEvents } from "../runtime/runs/first-events.ts";
import type { Http } from "./http.ts";
import type { Inputs } from "../runtime/scheduler/inputs.ts";
import type { EventLogger } from "./observability.ts";
import type { Heartbeats } from "./heartbeats.ts";
import { recordEvent, rerun, retryWork } from "./record-work.ts";
import type { EventStore, RerunDeps } from "./record-work.ts";
import type { RunRequests } from "../runtime/runs/run-requests.ts";
import type { StatusStore } from "../runtime/scheduler/status-store.ts";

export interface EventHandlerDeps {
  readonly status: Pick<StatusStore, "apply" | "agent">;
  readonly logger: EventLogger;
  readonly http: Pick<Http, "webhooks" | "metrics" | "listener">;
  readonly firstEvents: FirstEvents;
  readonly requests: Pick<RunRequests, "onEvent">;
  readonly heartbeats: Pick<Heartbeats, "onEvent">;
  readonly meter: Pick<SpendMeter, "run" | "runEnded">;
  readonly budgets: Pick<BudgetHolds, "onEvent">;
  readonly alerts: Pick<Alerts, "onEvent">;
  readonly inputs: Pick<Inputs, "paused$" | "project$">;
  readonly store: Pick<Store, "work" | "settings">;
  readonly redact: (text: string) => string;
  readonly dispatch: (items: readonly WorkItem[]) => void;
}

/** Passes every event, without secrets, to all its handlers, in the order in which they may build on each other. */
export function createEventHandler(deps: EventHandlerDeps): (event: RunEvent) => void {
  const { status, logger, http, firstEvents, requests, meter, alerts, store, dispatch } = deps;
  const { work, settings } = store;
  const { paused$, project$ } = deps.inputs;
  const reruns: RerunDeps = {
    work,
    dispatch,
    maxReruns: () => project$.value.maxReruns,
    isPaused: () => paused$.value,
  };
  const records: EventStore = {
    end: (item, run, also) => work.end(item, run, also),
    refuse: (item, outcome, reason, deadLetter, also) =>
      work.refuse(item, outcome, reason, deadLetter, also),
    undoBegin: (instanceId, also) => work.undoBegin(instanceId, also),
    record: (also) => work.record(also),
    recordTick: (agent, at) =>
      settings.recordTick(agent, { at, schedule: scheduleOf(status.agent(agent)) }),
  };
  return (raw) => {
    const event = withCost(redactEvent(raw, deps.redact), meter);
    status.apply(event);
    deps.budgets.onEvent(event);
    logger.onEvent(event);
    http.webhooks.onEvent(event);
    http.metrics.onEvent(event);
    http.listener.onEvent(event);
    deps.heartbeats.onEvent(event);
    firstEvents.see(event);
    const problem = (error: unknown): void =>
      logger.log(50, `${event.agent}: ${event.type} not recorded: ${messageOf(error)}`);
    // In the same turn as the record of the run's end, and so in the same commit.
    retryWork(event, work, dispatch).catch(problem);
    recordEvent(event, records, alerts.onEvent(event)).catch(problem);
    rerun(event, reruns).catch(problem);
    if (event.type === "finished") meter.runEnded(event.instanceId);
    // Last, as its answers about work that ended are read from the store after all of these.
    requests.onEvent(event);
  };
}

/**
 * A run has the tokens and costs that the scheduler counted, and what the calls may cost that it left open: their answers
 * are still read. What a subscription pays is only what the run reports that it would cost.
 */
export function withCost(event: RunEvent, meter: Pick<SpendMeter, "run">): RunEvent {
  if (event.type !== "finished") return event;
  const { usd, reservedUsd, turns, tokens } = meter.run(event.instanceId, event.agent);
  const costUsd = usdOfNano(nanoOfUsd(usd) + nanoOfUsd(reservedUsd));
  if (costUsd === 0 && tokens === 0) return event;
  const reported = { model: null, costUsd: null, turns, ...event.end.usage };
  const usage = { ...reported, tokens, ...(costUsd === 0 ? {} : { costUsd }) };
  return { ...event, end: { ...event.end, usage } };
}

/** The schedule by which an agent has a next run; null while it has none. */
function scheduleOf(record: AgentRecord | undefined): Schedule | null {
  const { config = null, nextRunAt = null } = record ?? {};
  if (config?.schedule == null || nextRunAt === null) return null;
  return { expression: config.schedule, timezone: config.timezone };
}

/**
 * The event without known secrets in the texts that the scheduler itself wrote. Output of runs is redacted where it is
 * read; a config's problem or a provider's error may quote anything.
 */
export function redactEvent(event: RunEvent, redact: (text: string) => string): RunEvent {
  switch (event.type) {
    case "agent-invalid":
      return { ...event, problems: redactProblems(event.problems, redact) };
    case "agent-requirements":
      return { ...event, unmet: redactProblems(event.unmet, redact) };
    case "agent-set": {
      const warnings = redactProblems(event.warnings, redact);
      return { ...event, warnings, summary: redact(event.summary) };
    }
    case "build-started":
    case "build-progress":
      return { ...event, text: redact(event.text) };
    case "build-finished":
      return event.error === null ? event : { ...event, error: redact(event.error) };
    case "refused":
      return { ...event, reason: redact(event.reason) };
    case "blocked":
      return event.reason === null ? event : { ...event, reason: redact(event.reason) };
    case "finished": {
      const { reason } = event.end;
      return reason === null ? event : { ...event, end: { ...event.end, reason: redact(reason) } };
    }
    default:
      return event;
  }
}

function redactProblems(
  problems: readonly Problem[],
  redact: (text: string) => string,
): readonly Problem[] {
  return problems.map((one) => ({ ...one, message: redact(one.message) }));
}
