import type { Observable } from "rxjs";
import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import type { RunnerEvent, StopReason } from "../../streams/runs/runner.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { LogEntry, RunRequest } from "../../streams/vocabulary.ts";
import type { LogSource } from "../contracts/log-source.ts";
import type { OpenRun } from "../store/recover.ts";

/** How one runtime goes on with runs that an earlier scheduler started. */
export interface Adopter {
  /** Which of these instances can be gone on with, each with the config that it was started with. */
  adopt(
    instanceIds: readonly string[],
  ): Promise<readonly { readonly instanceId: string; readonly agent: AgentConfig }[]>;
  /** Cold; as `Runner.run`. `last` is the run's last line that was logged: what comes after is handed on. */
  resume(
    run: { readonly request: RunRequest; readonly last: LogEntry | null },
    stop$: Observable<StopReason>,
  ): Observable<RunnerEvent>;
}

export interface AdoptionEdges {
  readonly runtimes: readonly Adopter[];
  readonly logs: Pick<LogSource, "read">;
}

/** The runs of an earlier scheduler that can be gone on with, each from the line after the last one in its log. */
export async function adoptRuns(
  open: readonly OpenRun[],
  { runtimes, logs }: AdoptionEdges,
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
    { instanceId, agent }: { readonly instanceId: string; readonly agent: AgentConfig },
    runtime: Adopter,
  ): Promise<AdoptedRun | null> {
    const run = open.find((each) => each.instanceId === instanceId);
    if (run === undefined) return null;
    const { item, startedAt, waitedMs, leftByStop } = run;
    const request: RunRequest = { instanceId, agent, item };
    const last = await lastLine(request, logs);
    const report: AdoptedRun["report"] = (stop$) => runtime.resume({ request, last }, stop$);
    return { request, startedAt, waitedMs, leftByStop, report };
  }
}

/** The instances that live on. */
export function instancesOf(adopted: readonly AdoptedRun[]): ReadonlySet<string> {
  return new Set(adopted.map(({ request }) => request.instanceId));
}

/** More than the scheduler itself says of a run after the run's last line: one at each start. */
const fewLines = 100;

/** The last logged line that is the run's own. */
async function lastLine(
  { instanceId, item }: RunRequest,
  logs: Pick<LogSource, "read">,
): Promise<LogEntry | null> {
  const query = { agent: item.agent, instanceId, lines: fewLines, after: null };
  const lines = await logs.read(query).catch(() => []);
  return lines.findLast(({ entry }) => isOfRun(entry))?.entry ?? null;
}

/** The lines about its start, which tell the trigger, and about its end are the scheduler's. */
function isOfRun({ kind, trigger, outcome }: LogEntry): boolean {
  return kind !== "run" || (trigger === undefined && outcome === undefined);
}
