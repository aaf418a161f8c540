import { basename } from "node:path";
import { logEntriesOf } from "../../streams/status/log-entries.ts";
import type { StatusEvent } from "../../streams/status/reduce-status.ts";
import type { SchedulerStatus } from "../../streams/status/wire.ts";
import type { LogEntry, LogLevel, RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { counted } from "../foundation/contracts/format.ts";
import type { LogSource } from "../foundation/contracts/log-source.ts";
import { createLogSource } from "../foundation/logs/log-source.ts";
import { createLogWriter } from "../foundation/logs/log-writer.ts";
import type { LogWriter } from "../foundation/logs/log-writer.ts";
import type { Recovered } from "../foundation/store/recover.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import type { Inputs } from "../runtime/scheduler/inputs.ts";
import { createSearch } from "./search.ts";
import type { Search } from "./search.ts";
import { spentTodayIn } from "../interfaces/operations/spent-today.ts";
import { createStatusStore, seedFrom } from "../runtime/scheduler/status-store.ts";
import type { StatusStore } from "../runtime/scheduler/status-store.ts";
import { createSwitches } from "../runtime/scheduler/switches.ts";
import type { Switches } from "../runtime/scheduler/switches.ts";

/** Status, logs, and the settings that both show. */
export interface Observability {
  readonly status: StatusStore;
  readonly logger: EventLogger;
  readonly logSource: LogSource;
  readonly logWriter: LogWriter;
  readonly search: Search;
  readonly switches: Switches;
}

export interface ObservabilityDeps {
  readonly projectDir: string;
  readonly version: string;
  readonly own: ProjectHandle;
  readonly inputs: Inputs;
  /** The last lines of the logs, oldest first. */
  readonly earlier: readonly LogEntry[];
  readonly logWriter: LogWriter;
  /** The scheduler's terminal. */
  readonly print: (entry: LogEntry) => void;
}

/** The writer of the project's log files. */
export function createProjectLog(projectDir: string, print: ObservabilityDeps["print"]): LogWriter {
  return createLogWriter(projectDir, {
    now: Date.now,
    // Printed only: the log is the file that can't be written.
    onProblem: (msg) => print({ level: 50, time: Date.now(), msg, agent: "scheduler" }),
  });
}

/** The readers of events, with what earlier schedulers left. */
export function createObservability(deps: ObservabilityDeps): Observability {
  const { projectDir, own, inputs, earlier, logWriter, print } = deps;
  const switches = createSwitches(own.store.settings, inputs, (paused) => {
    status.apply({ type: "scheduler", patch: { paused } });
    logger.log(30, paused ? "paused: cron ticks are skipped" : "resumed");
  });
  const status = createStatusStore(
    firstStatus(deps),
    seedFrom(
      orNull((agent) => own.store.lastRun(agent)),
      (agent) => switches.isEnabled(agent),
      orNull(spentTodayIn(own.store.spend, () => inputs.project$.value.timezone)),
    ),
    earlier,
  );
  const logger = createEventLogger({
    write: (entry) => logWriter.write(entry),
    print,
    status: (event) => status.apply(event),
    redact: (entry) => own.redactor.redactValue(entry) as LogEntry,
  });
  const logSource = createLogSource(projectDir, { appended$: logWriter.appended$ });
  const search = createSearch({ projectDir, warn: (message) => logger.log(40, message) });
  return { status, logger, logWriter, logSource, search, switches };
}

/** A store that is unavailable for a moment must not break the agent's row and the events after it. */
function orNull<T>(read: (agent: string) => T | null): (agent: string) => T | null {
  return (agent) => {
    try {
      return read(agent);
    } catch {
      return null;
    }
  };
}

function firstStatus({ projectDir, version, own, inputs }: ObservabilityDeps): SchedulerStatus {
  return {
    paused: inputs.paused$.value,
    draining: false,
    startedAt: own.startedAt,
    version,
    project: basename(projectDir),
    gatewayUrl: null,
    running: 0,
    cronJobs: 0,
    webhookSources: sourceNames(inputs.project$.value),
    error: null,
    warnings: [],
    alerts: { open: 0, dead: 0 },
  };
}

/** The names of the project's webhook sources. */
export function sourceNames({ webhooks }: ProjectConfig): string[] {
  return Object.keys(webhooks).sort();
}

export interface EventLogger {
  /** Writes the lines of an event to its agent's log; prints those of the scheduler itself. */
  onEvent(event: RunEvent): void;
  /** A line of the scheduler's own. */
  log(level: LogLevel, msg: string): void;
}

/** Where lines go. */
export interface EventLoggerSinks {
  /** The log files. */
  readonly write: (entry: LogEntry) => void;
  /** The scheduler's terminal. */
  readonly print: (entry: LogEntry) => void;
  readonly status: (event: StatusEvent) => void;
  /** The line without any known secret, in whatever part of it. */
  readonly redact: (entry: LogEntry) => LogEntry;
}

/** Events as log lines: in files, on the terminal and on the dashboard. */
export function createEventLogger(sinks: EventLoggerSinks): EventLogger {
  return {
    onEvent: (event) => {
      // Output of agents has no secrets any more. It is in their own logs only; the terminal shows what the scheduler does.
      if (event.type === "output") return sinks.write(event.entry);
      for (const entry of logEntriesOf(event).map(sinks.redact)) {
        sinks.write(entry);
        sinks.print(entry);
      }
    },
    log: (level, msg) => {
      const entry = sinks.redact({ level, time: Date.now(), msg, agent: "scheduler" });
      sinks.write(entry);
      sinks.print(entry);
      sinks.status({ type: "scheduler-log", entry });
    },
  };
}

/** Warnings for the operator at the start. */
export function startWarnings(
  env: NodeJS.ProcessEnv,
  { lost, neverBegun }: Pick<Recovered, "lost" | "neverBegun">,
): string[] {
  const waits =
    "had not begun when the last scheduler ended: their work waits again, as the same try";
  return [
    ...(neverBegun.length === 0 ? [] : [`${counted(neverBegun.length, "run")} ${waits}`]),
    ...(env.AL_DASHBOARD_SECRET === undefined ? [] : [dashboardSecret]),
    ...lost.map(({ item, instanceId, outcome, retry }) => {
      const next = retry === null ? "it was the second try" : "its work waits once more";
      return `run ${instanceId} of agent ${item.agent} was ${outcome} when the last scheduler ended; ${next}`;
    }),
  ];
}

const dashboardSecret =
  "AL_DASHBOARD_SECRET is set and no longer used: the dashboard takes the API key; unset it";
