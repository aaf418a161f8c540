import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { Schedule } from "../../streams/triggers/next-tick.ts";
import type { RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { messageOf } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { FirstEvents } from "../runs/first-events.ts";
import type { Inputs } from "./inputs.ts";
import { recordEvent } from "./recorder.ts";
import { redactEvent } from "./redact-event.ts";
import type { Reporting } from "./reporting.ts";
import { rerun } from "./rerun.ts";
import { retryWork } from "./retry-work.ts";
import type { RunRequests } from "../runs/run-requests.ts";
import type { Serving } from "./serving.ts";

export interface EventReaders extends Pick<Serving, "webhooks" | "metrics" | "listening"> {
  readonly reporting: Pick<Reporting, "board" | "journal">;
  readonly firstEvents: FirstEvents;
  readonly requests: Pick<RunRequests, "onEvent">;
  readonly inputs: Pick<Inputs, "paused$" | "project$">;
  readonly store: Pick<Store, "work" | "settings">;
  readonly redact: (text: string) => string;
  readonly dispatch: (items: readonly WorkItem[]) => void;
}

/** Gives every event to all its readers, without secrets, in the order in which they may build on each other. */
export function eventReader(readers: EventReaders): (event: RunEvent) => void {
  const { reporting, webhooks, metrics, listening, firstEvents, store } = readers;
  const { board, journal } = reporting;
  const recordTick = (agent: string, at: number): Promise<void> =>
    store.settings.recordTick(agent, { at, schedule: scheduleOf(board.agent(agent)) });
  const { paused$, project$ } = readers.inputs;
  const again = {
    work: store.work,
    dispatch: readers.dispatch,
    maxReruns: () => project$.value.maxReruns,
    isPaused: () => paused$.value,
  };
  const records = { ...store.work, recordTick };
  return (raw) => {
    const event = redactEvent(raw, readers.redact);
    board.apply(event);
    journal.event(event);
    for (const reader of [webhooks, metrics, firstEvents]) reader.see(event);
    listening.onEvent(event);
    const problem = (error: unknown): void =>
      journal.say(50, `${event.agent}: ${event.type} not recorded: ${messageOf(error)}`);
    // In the same turn as the record of the run's end, and so in the same commit.
    retryWork(event, store.work, readers.dispatch).catch(problem);
    recordEvent(event, records).catch(problem);
    rerun(event, again).catch(problem);
    // Last, as its answers about work that ended are read from the store after all of these.
    readers.requests.onEvent(event);
  };
}

/** The schedule by which an agent has a next run; null while it has none. */
function scheduleOf(record: AgentRecord | undefined): Schedule | null {
  const { config = null, nextRunAt = null } = record ?? {};
  if (config?.schedule == null || nextRunAt === null) return null;
  return { expression: config.schedule, timezone: config.timezone };
}
