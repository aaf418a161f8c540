import { asyncScheduler } from "rxjs";
import { createClock } from "../../streams/clock.ts";
import type { Clock } from "../../streams/clock.ts";
import { createPlaces } from "../../streams/runs/places.ts";
import type { Places } from "../../streams/runs/places.ts";
import type { LogEntry, WorkItem } from "../../streams/vocabulary.ts";
import type { LoadedProject } from "../config/load-project.ts";
import { messageOf } from "../errors.ts";
import { createFirstEvents } from "../runs/first-events.ts";
import type { FirstEvents } from "../runs/first-events.ts";
import { abandonBy, dispatchTo } from "./inputs.ts";
import type { Inputs } from "./inputs.ts";
import type { OwnProject } from "./own-project.ts";
import { createReporting } from "./reporting.ts";
import type { Reporting } from "./reporting.ts";
import { createLiveRuns } from "../runs/live-runs.ts";
import type { LiveRuns } from "../runs/live-runs.ts";
import { createRunRequests } from "../runs/run-requests.ts";
import type { RunRequests } from "../runs/run-requests.ts";
import type { Runtimes } from "./run-edges.ts";
import { mustBeRunnable } from "./runnable.ts";
import { createServing } from "./serving.ts";
import type { Serving } from "./serving.ts";
import { interpretStored } from "../webhooks/interpret.ts";
import { createStopping } from "./stopping.ts";
import type { Stopping } from "./stopping.ts";

export interface SchedulerOptions {
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

/** What a scheduler begins with. */
export interface Beginning {
  readonly options: SchedulerOptions;
  readonly loaded: LoadedProject;
  readonly own: OwnProject;
  readonly inputs: Inputs;
  readonly runtimes: Runtimes;
  readonly version: string;
}

/** What a scheduler is made of beside its graph; nothing of it flows or listens yet. */
export interface Parts {
  readonly clock: Clock;
  readonly places: Places;
  /** How many runs may be starting at once. */
  readonly starting: Places;
  readonly runs: LiveRuns;
  readonly reporting: Reporting;
  readonly firstEvents: FirstEvents;
  readonly stopping: Stopping;
  readonly requests: RunRequests;
  readonly serving: Serving;
  /** Hands on committed work. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
  readonly warn: (message: string) => void;
}

/** `earlier` are the last lines of the logs; `abort` ends what flows. */
export function createParts(
  beginning: Beginning,
  earlier: readonly LogEntry[],
  abort: () => void,
): Parts {
  const { options, loaded, own, inputs, runtimes, version } = beginning;
  const { projectDir, onDemand = false } = options;
  const dispatch = dispatchTo(inputs);
  const reporting = createReporting({
    ...{ projectDir, version, own, inputs, earlier },
    tell: options.log,
  });
  const { journal, board } = reporting;
  const warn = (message: string): void => journal.say(40, message);
  const unrecorded = (error: unknown): void =>
    warn(`the next start will not know that this scheduler was stopped: ${messageOf(error)}`);
  const firstEvents = createFirstEvents(() => stopping.phase() === "draining");
  const stopping = createStopping({
    ...{ ...inputs, abort },
    graceMs: options.graceSeconds * 1000,
    say: (message) => journal.say(30, message),
    running: () => board.running(),
    // What a person runs with `al run` ends with that command, and is not to come back with the next scheduler.
    endsRunsAs: onDemand ? "killed" : "interrupted",
    begin: () => {
      board.apply({ type: "scheduler", patch: { draining: true } });
      if (!onDemand) own.store.settings.recordStop(Date.now()).catch(unrecorded);
    },
  });
  const clock = createClock(asyncScheduler);
  const runs = createLiveRuns({
    elapsed: () => Math.round(performance.now()),
    now: () => clock.now(),
    freeze: runtimes.freeze,
    thaw: runtimes.thaw,
    onProblem: warn,
  });
  const base = { reporting, firstEvents, stopping, clock, runs, dispatch, warn };
  const requests = requestsOver(beginning, base);
  const serving = createServing({ ...options, ...base, own, inputs, requests, version });
  const { scale, local } = loaded.project;
  const [places, starting] = [createPlaces(scale), createPlaces(local.starting)];
  return { ...base, requests, serving, places, starting };
}

/** The requests of live runs, over this scheduler's inputs and store. */
function requestsOver(
  { own: { store }, inputs }: Beginning,
  base: Omit<Parts, "requests" | "serving" | "places" | "starting">,
): RunRequests {
  const { reporting, stopping } = base;
  return createRunRequests({
    clock: base.clock,
    runs: base.runs,
    store,
    firstEvents: base.firstEvents,
    dispatch: base.dispatch,
    onProblem: base.warn,
    project: () => inputs.project$.value,
    agentNames: () => [...reporting.board.agents()].map(({ name }) => name),
    mustBeRunnable: (agent) => mustBeRunnable({ ...reporting, stopping }, agent),
    abandon: abandonBy(inputs),
    onTaken: ({ agent, id }) => inputs.withdraw$.next({ agent, itemId: id, why: "taken" }),
    deliveryOf: (id) => {
      const receipt = store.receipts.get(id);
      return receipt && interpretStored(receipt);
    },
  });
}
