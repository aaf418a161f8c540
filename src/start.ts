import { asyncScheduler, EMPTY, merge, Subject, takeUntil, tap } from "rxjs";
import { createClock } from "../streams/clock.ts";
import { createPlaces } from "../streams/runs/places.ts";
import { createResting } from "../streams/runs/resting.ts";
import { problemText } from "../streams/problem-text.ts";
import type { LogEntry } from "../streams/vocabulary.ts";
import { loadProject } from "./config/load-project.ts";
import type { LoadedProject } from "./config/load-project.ts";
import type { LogSource } from "./contracts/log-source.ts";
import type { Operations } from "./contracts/operations.ts";
import { messageOf } from "./errors.ts";
import { closeAll } from "./start/close-all.ts";
import { createFirstEvents } from "./start/first-events.ts";
import { graphOver } from "./start/graph-over.ts";
import { housekeeping } from "./start/housekeeping.ts";
import { abandonBy, createInputs, dispatchTo } from "./start/inputs.ts";
import type { Inputs } from "./start/inputs.ts";
import { checkListening } from "./start/listening.ts";
import { refuseAdopted } from "./start/on-demand.ts";
import { missingSecrets } from "./start/missing-secrets.ts";
import { ownProject } from "./start/own-project.ts";
import type { OwnProject } from "./start/own-project.ts";
import { projectChanges } from "./start/project-changes.ts";
import { readAgents } from "./start/read-agents.ts";
import { eventReader } from "./start/event-reader.ts";
import { reloadProject } from "./start/reload-project.ts";
import { createReporting } from "./start/reporting.ts";
import { instancesOf } from "./start/adopt-runs.ts";
import { createRunAbilities } from "./start/run-abilities.ts";
import { createRuntimes } from "./start/run-edges.ts";
import type { Runtimes } from "./start/run-edges.ts";
import { createServing } from "./start/serving.ts";
import { lostProject } from "./start/lost-project.ts";
import { mustBeRunnable } from "./start/runnable.ts";
import { startWarnings } from "./start/start-warnings.ts";
import { createStopping } from "./start/stopping.ts";
import { createWarmRunners } from "./start/warm-runners.ts";
import { watchFiles } from "./start/watch-files.ts";
import { packageVersion } from "./version.ts";
import { filterTable } from "./webhooks/providers/table.ts";

export interface StartOptions {
  /** Absolute. */
  readonly projectDir: string;
  readonly webUi: boolean;
  /** Runs only what it is asked for: no schedules, no webhooks, no work that waits, no TCP. */
  readonly onDemand?: boolean;
  /** Instead of `[gateway].port`; 0 for any free one. */
  readonly port?: number;
  /** Instead of `[gateway].host`. */
  readonly host?: string;
  /** How long running runs get when it stops. */
  readonly graceSeconds: number;
  readonly env: NodeJS.ProcessEnv;
  /** Takes the scheduler's own lines, for the terminal. */
  readonly log: (entry: LogEntry) => void;
}

/** A scheduler that runs. */
export interface Scheduler {
  /** Null when it does not listen on TCP. */
  readonly gatewayUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly apiKeyPath: string;
  /** What the gateway offers, for whoever operates it from within this process. */
  readonly operations: Operations;
  readonly logs: LogSource;
  /** Resolves with the exit code once nothing runs any more and everything is written. */
  readonly done: Promise<number>;
  stop(reason: string): void;
  stopNow(): void;
}

/**
 * Runs a project until it is stopped. Rejects with a UserError when the project is broken, held by another
 * scheduler, or can't listen; then nothing is left running or taken. One broken agent is no reason.
 */
export async function startScheduler(options: StartOptions): Promise<Scheduler> {
  const { projectDir, env } = options;
  const version = packageVersion();
  const loaded = await loadProject(projectDir, filterTable);
  const onProblem = (msg: string): void =>
    options.log({ level: 40, time: Date.now(), msg, agent: "scheduler" });
  const own = await ownProject(projectDir, { env, version, onProblem });
  const inputs = createInputs(loaded.project, own.store.settings.paused());
  const { project$ } = inputs;
  const runtimes = createRuntimes({ projectDir, env, own, project$, warn: onProblem });
  try {
    // Before any run is gone on with: who can't start must not end it.
    await checkListening(options, loaded.project);
    return await compose({ options, loaded, own, inputs, runtimes, version });
  } catch (error) {
    await runtimes.close();
    own.close();
    throw error;
  }
}

/** What a scheduler begins with. */
interface Beginning {
  readonly options: StartOptions;
  readonly loaded: LoadedProject;
  readonly own: OwnProject;
  readonly inputs: Inputs;
  readonly runtimes: Runtimes;
  readonly version: string;
}

async function compose(beginning: Beginning): Promise<Scheduler> {
  const { options, loaded, own, inputs, runtimes, version } = beginning;
  const { projectDir, env, webUi, onDemand = false } = options;
  const { project: firstProject, warnings } = loaded;
  const { store } = own;
  const { project$ } = inputs;
  const { agents, problems, scan } = await readAgents(projectDir);
  const adopted = await runtimes.adopt(store.openRuns());
  if (onDemand) refuseAdopted(adopted);
  const recovered = await store.recover(instancesOf(adopted));
  const waiting = onDemand ? [] : recovered.requeue;
  const dispatch = dispatchTo(inputs);
  const reporting = createReporting({ projectDir, version, own, inputs, tell: options.log });
  const { journal, switches } = reporting;
  const warn = (message: string): void => journal.say(40, message);

  const firstEvents = createFirstEvents(() => stopping.phase() === "draining");
  const stopping = createStopping({
    ...inputs,
    graceMs: options.graceSeconds * 1000,
    say: (message) => journal.say(30, message),
    running: () => reporting.board.running(),
    abort: () => subscription.unsubscribe(),
  });
  const clock = createClock(asyncScheduler);
  const resting = createResting(() => Math.round(performance.now()));
  const abilities = createRunAbilities({
    ...{ clock, resting, store, firstEvents, dispatch, onProblem: warn },
    freeze: runtimes.freeze,
    thaw: runtimes.thaw,
    project: () => project$.value,
    mustBeRunnable: (agent) => mustBeRunnable({ ...reporting, stopping }, agent),
    abandon: abandonBy(inputs),
    onTaken: ({ agent, id }) => inputs.withdraw$.next({ agent, itemId: id, why: "taken" }),
    receipt: (id) => store.receipts.get(id),
  });
  const shared = { own, inputs, reporting, resting, firstEvents, stopping, dispatch, abilities };
  const serving = createServing({ ...options, ...shared, version });
  const { gateway, listening } = serving;

  const files = watchFiles(projectDir, { scan, problems });
  const places = createPlaces(firstProject.scale);
  const event$ = graphOver({
    ...{ projectDir, version, onDemand, inputs, store, agents, adopted, waiting, switches },
    ...{ runner: runtimes.runner, prepare: runtimes.prepare, touched$: files.agent$ },
    ...{ clock, places, resting },
  });

  const { keepWarm } = runtimes;
  const warm = createWarmRunners({ ...inputs, keepWarm, agents: () => reporting.board.agents() });
  const readEvent = eventReader({ ...shared, ...serving, store, redact: own.redactor.redact });
  let exitCode = 0;
  const lost = (why: string): void => {
    exitCode = 1;
    journal.say(60, why);
    stopping.stop("its project is gone");
  };
  const over$ = new Subject<void>();
  const subscription = merge(
    abilities.claim$.pipe(
      tap((event) => reporting.board.apply(event)),
      takeUntil(over$),
    ),
    // First, as runs that are adopted go on with what they asked for.
    abilities.event$.pipe(tap(readEvent), takeUntil(over$)),
    event$.pipe(tap(warm.see), tap({ next: readEvent, complete: () => over$.next() })),
    merge(
      projectChanges(projectDir, files.project$, filterTable, { type: "set", ...loaded }).pipe(
        tap((change) => {
          reloadProject(change, { ...reporting, project$, places });
          listening.seeProject();
        }),
      ),
      merge(files.warning$, serving.keyChange$).pipe(tap(warn)),
      lostProject(own.lock).pipe(tap(lost)),
      onDemand ? EMPTY : missingSecrets(own.home, project$).pipe(tap(warn)),
      onDemand ? EMPTY : housekeeping({ projectDir, store, project$, warn }),
    ).pipe(takeUntil(over$)),
  ).subscribe({
    error: (error: unknown) => {
      exitCode = 1;
      journal.say(
        60,
        `the scheduler broke: ${error instanceof Error ? (error.stack ?? "") : messageOf(error)}`,
      );
    },
  });
  if (!onDemand) subscription.add(warm.open());
  const done = new Promise<number>((resolve) => {
    const problem = (error: unknown): void => {
      exitCode = 1;
      const msg = `while it closed: ${messageOf(error)}`;
      options.log({ level: 50, time: Date.now(), msg, agent: "scheduler" });
    };
    subscription.add(() => {
      stopping.done();
      firstEvents.end();
      const steps = [
        runtimes.close,
        () => gateway.close(),
        () => reporting.logWriter.close(),
        () => own.close(),
      ];
      void closeAll(steps, problem).then(() => resolve(exitCode));
    });
  });

  try {
    await listening.open();
  } catch (error) {
    subscription.unsubscribe();
    await done;
    throw error;
  }
  for (const problem of [...warnings, ...problems]) warn(problemText(problem));
  for (const message of startWarnings(env, recovered.lost)) warn(message);
  dispatch(waiting);
  abilities.restore(instancesOf(adopted));
  runtimes.serve(abilities);
  stopping.started();
  const gatewayUrl = listening.url();
  return {
    gatewayUrl,
    dashboardUrl: webUi && gatewayUrl !== null ? `${gatewayUrl}/dashboard` : null,
    apiKeyPath: own.apiKey.path,
    operations: serving.operations,
    logs: reporting.logSource,
    done,
    stop: stopping.stop,
    stopNow: stopping.stopNow,
  };
}
