import { basename } from "node:path";
import type { EarlierRun } from "../../streams/status/agent-record.ts";
import type { SchedulerStatus } from "../../streams/status/wire.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import type { LogSource } from "../contracts/log-source.ts";
import { createLogSource } from "../logs/log-source.ts";
import { createLogWriter } from "../logs/log-writer.ts";
import type { LogWriter } from "../logs/log-writer.ts";
import type { Inputs } from "./inputs.ts";
import { createJournal } from "./journal.ts";
import type { Journal } from "./journal.ts";
import type { OwnProject } from "./own-project.ts";
import { createStatusBoard, seedFrom } from "./status-board.ts";
import type { StatusBoard } from "./status-board.ts";
import { createSwitches } from "./switches.ts";
import type { Switches } from "./switches.ts";

/** Where is told what happens: the status, the logs, the terminal. */
export interface Reporting {
  readonly board: StatusBoard;
  readonly journal: Journal;
  readonly logSource: LogSource;
  readonly logWriter: LogWriter;
  readonly switches: Switches;
}

export interface ReportingDeps {
  readonly projectDir: string;
  readonly version: string;
  readonly own: OwnProject;
  readonly inputs: Inputs;
  /** The last lines of the logs, oldest first. */
  readonly earlier: readonly LogEntry[];
  /** The scheduler's terminal. */
  readonly tell: (entry: LogEntry) => void;
}

/** The readers of events, with what earlier schedulers left. */
export function createReporting(deps: ReportingDeps): Reporting {
  const { projectDir, own, inputs, earlier, tell } = deps;
  const redact = (text: string): string => own.redactor.redact(text);
  const logWriter = createLogWriter(projectDir, {
    redact,
    now: Date.now,
    // Not into the log: it is what can't be written.
    onProblem: (msg) => tell({ level: 50, time: Date.now(), msg, agent: "scheduler" }),
  });
  const switches = createSwitches(own.store.settings, inputs, (paused) => {
    board.apply({ type: "scheduler", patch: { paused } });
    journal.say(30, paused ? "paused: cron ticks are skipped" : "resumed");
  });
  const board = createStatusBoard(
    firstStatus(deps),
    seedFrom(
      (agent) => lastRunOf(own, agent),
      (agent) => switches.isEnabled(agent),
    ),
    earlier,
  );
  const journal = createJournal({
    write: (entry) => logWriter.write(entry),
    tell,
    status: (event) => board.apply(event),
    redact: (entry) => own.redactor.redactValue(entry) as LogEntry,
  });
  const logSource = createLogSource(projectDir, { appended$: logWriter.appended$ });
  return { board, journal, logWriter, logSource, switches };
}

/** A store that is away for a moment must not take the agent's row, and all that is told, with it. */
function lastRunOf({ store }: OwnProject, agent: string): EarlierRun | null {
  try {
    return store.lastRun(agent);
  } catch {
    return null;
  }
}

function firstStatus({ projectDir, version, own, inputs }: ReportingDeps): SchedulerStatus {
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
  };
}

/** The names of the project's webhook sources. */
export function sourceNames({ webhooks }: ProjectConfig): string[] {
  return Object.keys(webhooks).sort();
}
