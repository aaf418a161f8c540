import { createSpend } from "../features/spend/spend-store.ts";
import { basename } from "node:path";
import { asyncScheduler } from "rxjs";
import { createClock } from "../../streams/clock.ts";
import { logEntriesOf } from "../../streams/status/log-entries.ts";
import { keptLogs } from "../../streams/status/reduce-status.ts";
import type { LogEntry, LogLevel, RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { counted } from "../foundation/contracts/format.ts";
import { secretsOf } from "../foundation/credentials/credential-types.ts";
import { loadCredential } from "../foundation/credentials/load-credential.ts";
import { messageOf } from "../foundation/errors.ts";
import { latestEntries } from "../foundation/logs/log-reader.ts";
import { createLogWriter } from "../foundation/logs/log-writer.ts";
import { createInputs, dispatchTo } from "../foundation/scheduler/inputs.ts";
import { createStatusStore, pauseStatus, seedFrom } from "../foundation/scheduler/status-store.ts";
import { createStopping } from "../foundation/scheduler/stopping.ts";
import { createSwitches } from "../foundation/scheduler/switches.ts";
import type { Recovered } from "../foundation/store/recover.ts";
import type { Pause } from "../foundation/store/settings.ts";
import { spentTodayIn } from "../features/spend/spend-answers.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import type { SchedulerOptions } from "./services.ts";

interface ContextSources {
  readonly options: SchedulerOptions;
  readonly own: ProjectHandle;
  readonly project: ProjectConfig;
  readonly version: string;
  /** Ends the graph. */
  readonly abort: () => void;
}

/** The context of one scheduler. Its status begins with the last log lines of earlier ones. */
export async function createContext(sources: ContextSources): Promise<SchedulerContext> {
  const { options, own, project, version, abort } = sources;
  const { projectDir, env, onDemand = false, log: print } = options;
  const { store, redactor, home } = own;
  const pause = store.settings.pause();
  const isWorkHeld = onDemand ? pause.work : store.settings.isWorkHeld();
  const inputs = createInputs(project, pause.schedules, isWorkHeld);
  const { project$ } = inputs;
  const logWriter = createLogWriter(projectDir, {
    now: Date.now,
    // Printed only, because the log is the file that can't be written.
    onProblem: (msg) => print({ level: 50, time: Date.now(), msg, agent: "scheduler" }),
  });
  const log = (level: LogLevel, msg: string): void => {
    const line = { level, time: Date.now(), msg, agent: "scheduler" };
    const entry = redactor.redactValue(line) as LogEntry;
    logWriter.write(entry);
    print(entry);
    status.apply({ type: "scheduler-log", entry });
  };
  const warn = (message: string): void => log(40, message);
  const switches = createSwitches(store, inputs, (changed) => {
    status.apply({ type: "scheduler", patch: pauseStatus(changed) });
    log(30, pauseLine(changed));
  });
  const status = createStatusStore(
    {
      ...pauseStatus(pause),
      draining: false,
      startedAt: own.startedAt,
      version,
      project: basename(projectDir),
      gatewayUrl: null,
      running: 0,
      cronJobs: 0,
      webhookSources: sourceNames(project),
      error: null,
      warnings: [],
      alerts: { open: 0, dead: 0 },
      questions: 0,
    },
    seedFrom(
      orNull((agent) => store.lastRun(agent)),
      (agent) => switches.isEnabled(agent),
      orNull(spentTodayIn(store.tables(createSpend), () => project$.value.timezone)),
    ),
    // Most lines are output of runs, which the status does not keep.
    await latestEntries(projectDir, 5 * keptLogs),
  );
  const unrecorded = (error: unknown): void =>
    warn(`the stop of this scheduler is not recorded: ${messageOf(error)}`);
  const stopping = createStopping({
    stopping$: inputs.stopping$,
    kill$: inputs.kill$,
    abort,
    graceMs: options.graceSeconds * 1000,
    log: (message) => log(30, message),
    running: () => status.running(),
    // A run by `al run` without a scheduler ends with that command; the next scheduler must not retry it.
    endsRunsAs: onDemand ? "killed" : "interrupted",
    begin: () => {
      status.apply({ type: "scheduler", patch: { draining: true } });
      if (!onDemand) store.settings.recordStop(Date.now()).catch(unrecorded);
    },
  });
  return {
    projectDir,
    home,
    env,
    version,
    onDemand,
    store,
    redactor,
    credential: async (reference) => {
      const credential = await loadCredential(home, reference);
      redactor.add(secretsOf(credential));
      return credential;
    },
    inputs,
    project$,
    dispatch: dispatchTo(inputs),
    switches,
    stopping,
    status,
    clock: createClock(asyncScheduler),
    logWriter,
    log,
    warn,
  };
}

function pauseLine({ schedules, work }: Pause): string {
  if (work) return "paused: new work waits, and scheduled runs are skipped";
  return schedules ? "paused: scheduled runs are skipped" : "resumed";
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

/** The names of the project's webhook sources. */
export function sourceNames({ webhooks }: ProjectConfig): string[] {
  return Object.keys(webhooks).sort();
}

/** Writes an event's lines to its agent's log; prints those of the scheduler itself. */
export function logEvents(
  { logWriter, redactor }: SchedulerContext,
  print: (entry: LogEntry) => void,
): (event: RunEvent) => void {
  return (event) => {
    // A run's output is already redacted. It is only logged for the agent, as the terminal shows the scheduler's work.
    if (event.type === "output") return logWriter.write(event.entry);
    for (const line of logEntriesOf(event)) {
      const entry = redactor.redactValue(line) as LogEntry;
      logWriter.write(entry);
      print(entry);
    }
  };
}

/** Warnings for the operator at the start. */
export function startWarnings(
  env: NodeJS.ProcessEnv,
  { lost, neverBegun }: Pick<Recovered, "lost" | "neverBegun">,
): string[] {
  const waits =
    "had not begun when the last scheduler ended: their work is queued again, as the same attempt";
  return [
    ...(neverBegun.length === 0 ? [] : [`${counted(neverBegun.length, "run")} ${waits}`]),
    ...(env.AL_DASHBOARD_SECRET === undefined ? [] : [dashboardSecret]),
    ...lost.map(({ item, instanceId, outcome, retry }) => {
      const next = retry === null ? "it was the second attempt" : "its work is queued again";
      return `run ${instanceId} of agent ${item.agent} was ${outcome} when the last scheduler ended; ${next}`;
    }),
  ];
}

const dashboardSecret =
  "AL_DASHBOARD_SECRET is set but no longer used: the dashboard accepts the API key; unset it";
