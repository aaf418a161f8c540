import type { StopReason } from "../../../streams/outcomes.ts";
import type { Observable } from "rxjs";
import type { AdoptedRun } from "../../../streams/runs/adopted-runs.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import type { ReadLog } from "../../foundation/logs/log-source.ts";
import { Problem } from "../../foundation/errors.ts";
import type { OpenRun } from "../../foundation/store/recover.ts";

/** An adoptable run of an earlier scheduler, with the config that started it. */
export interface FoundRun {
  readonly instanceId: string;
  readonly agent: AgentConfig;
}

/** An adopted run; `last` is its last logged line, null without one. */
export interface RunToResume {
  readonly request: RunRequest;
  readonly last: LogEntry | null;
}

/** How one runtime adopts runs that an earlier scheduler started. */
export interface Adopter {
  /**
   * Finds the given instances that live, or ended while no scheduler was up. Leftovers of all others are ended and
   * removed, so that their work can be retried.
   */
  adopt(instanceIds: readonly string[]): Promise<readonly FoundRun[]>;
  /** Whether a log line is the run's own; by default all lines except those about its start and its end are. */
  readonly isOwnLine?: (entry: LogEntry) => boolean;
  /** Cold, like `Runner.run`. Emits only the lines after `last`. */
  resume(run: RunToResume, stop$: Observable<StopReason>): Observable<RunnerEvent>;
}

/** Adopts the runs of an earlier scheduler, each from the line after its last logged one. */
export async function adoptRuns(
  open: readonly OpenRun[],
  runtimes: readonly Adopter[],
  logs: ReadLog,
): Promise<readonly AdoptedRun[]> {
  const ids = open.map(({ instanceId }) => instanceId);
  const adopted = await Promise.all(
    runtimes.map(async (runtime) => {
      const found = await runtime.adopt(ids);
      return Promise.all(found.map((run) => adoptedRun(run, runtime)));
    }),
  );
  return adopted.flat().filter((run) => run !== null);

  async function adoptedRun(
    { instanceId, agent }: FoundRun,
    runtime: Adopter,
  ): Promise<AdoptedRun | null> {
    const run = open.find((each) => each.instanceId === instanceId);
    if (run === undefined) return null;
    const { item, startedAt, waitedMs, leftByStop, supersededBy } = run;
    const request: RunRequest = { instanceId, agent, item };
    const last = await lastLine(request, logs, runtime.isOwnLine ?? isOfRun);
    const report: AdoptedRun["report"] = (stop$) => runtime.resume({ request, last }, stop$);
    const superseded = supersededBy === undefined ? {} : { supersededBy };
    return { request, startedAt, waitedMs, leftByStop, report, ...superseded };
  }
}

/** Throws a Problem if there are any: a scheduler for a single run can't adopt others. */
export function refuseAdopted(adopted: readonly AdoptedRun[]): void {
  if (adopted.length === 0) return;
  const names = adopted.map(({ request }) => request.instanceId).join(", ");
  throw new Problem(
    "runs_left",
    `runs of a scheduler that died are still running: ${names}`,
    "Continue them with `al start`.",
  );
}

/** The scheduler's own lines after a run's last one are usually few, and bounded. */
const lookBack = [100, 10_000];

/** The last logged line written by the run. */
async function lastLine(
  { instanceId, item }: RunRequest,
  logs: ReadLog,
  isOwn: (entry: LogEntry) => boolean,
): Promise<LogEntry | null> {
  for (const count of lookBack) {
    const query = { agent: item.agent, instanceId, lines: count, after: null };
    const lines = await logs.read(query).catch(() => []);
    const last = lines.findLast(({ entry }) => isOwn(entry));
    if (last !== undefined) return last.entry;
    if (lines.length < count) return null;
  }
  return null;
}

/** The lines about a run's start, which have the trigger, about its end and those that say so are the scheduler's. */
function isOfRun({ kind, trigger, outcome, scheduler }: LogEntry): boolean {
  if (scheduler === true) return false;
  return kind !== "run" || (trigger === undefined && outcome === undefined);
}
