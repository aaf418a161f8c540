import { createRefusedDeliveries } from "../features/webhooks/refused-deliveries.ts";
import {
  concatMap,
  distinct,
  EMPTY,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  pairwise,
  share,
  Subject,
  takeUntil,
  tap,
} from "rxjs";
import type { Observable } from "rxjs";
import { harnesses } from "../../streams/harnesses.ts";
import { problemSummary, problemText } from "../../streams/problem-text.ts";
import type { QuestionStatusEvent } from "../../streams/status/reduce-status.ts";
import type { LogEntry, RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import {
  credentialChanges,
  pollCredentials,
  credentialsDiffer,
  missingSecrets,
} from "../foundation/credentials/credential-changes.ts";
import type { WatchedFiles } from "../foundation/files/watch-files.ts";
import { unknownModels } from "../features/models/unknown-models.ts";
import { filterTable } from "../features/webhooks/providers/table.ts";
import type { LoadedProject } from "../foundation/config/resolve-project.ts";
import { lostProject, type ProjectHandle } from "./acquire-project.ts";
import { createHeartbeats, type Heartbeats } from "../features/heartbeat/heartbeats.ts";
import { housekeeping } from "./housekeeping.ts";
import { projectChanges, reloadProject } from "./project-changes.ts";
import type { UnconfiguredSkills } from "./agent-directories.ts";
import { keylessWarnings } from "../runtime/runs/keyless-warnings.ts";
import { requirementEvents, requirementCheck } from "../runtime/runs/requirements.ts";
import { budgetWarnings } from "../runtime/runs/run-meter.ts";
import { usedBudgetEvents, spentEvents, withCost } from "../features/spend/used-budget-events.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { redactEvent } from "../foundation/scheduler/redact-event.ts";
import type { Services } from "./services.ts";
import { commitEvents } from "../foundation/scheduler/commit-events.ts";
import { logEvents } from "./context.ts";

export interface EffectSources {
  /** The graph of all agents. */
  readonly graph$: Observable<RunEvent>;
  readonly files: WatchedFiles;
  readonly skills: UnconfiguredSkills;
  readonly loaded: LoadedProject;
  readonly own: ProjectHandle;
  /** The scheduler's terminal. */
  readonly print: (entry: LogEntry) => void;
  /** Called when the project's `.al` was removed; `why` is for a person. */
  readonly lost: (why: string) => void;
}

/** All effects of a scheduler; completes with the graph. */
export function schedulerEffects(
  context: SchedulerContext,
  services: Services,
  { graph$, files, skills, loaded, own, print, lost }: EffectSources,
): Observable<unknown> {
  const { onDemand, project$, redactor, status, warn } = context;
  const { alerts, budgets, http, meter, requests, runs, telemetry } = services;
  const over$ = new Subject<void>();
  const event$ = new Subject<RunEvent>();
  const heartbeats = createHeartbeats(context);
  const readers = eventReaders(context, services, heartbeats, print);
  const added$ = merge(
    runs.event$,
    spentEvents(meter, () => project$.value.timezone, Date.now),
    usedBudgetEvents({
      used$: budgets.used$,
      hasAgent: (name) => status.agent(name) !== undefined,
      now: Date.now,
    }),
    onDemand ? EMPTY : http.webhooks.gatherings.event$,
    onDemand ? EMPTY : requirements(context, services, event$),
  );
  // The runs' own events first, because adopted runs resume their waits with the graph.
  const source$ = merge(
    added$.pipe(takeUntil(over$)),
    graph$.pipe(tap({ complete: () => over$.next() })),
  ).pipe(map((event) => withCost(redactEvent(event, redactor.redact), meter)));
  const around$ = merge(
    requests.lockStatus$.pipe(tap(status.apply)),
    meter.call$.pipe(tap(http.metrics.onCall), tap(telemetry.onCall)),
    telemetry.change$,
    merge(files.warning$, http.keyChange$, runs.problem$, budgetWarnings(meter, runs)).pipe(
      tap(warn),
    ),
    onDemand
      ? EMPTY
      : merge(alerts.effect$, services.chat$, meter.warning$.pipe(tap(alerts.onWarning))),
    projectEdits(context, services, files, loaded),
    skillWarnings(skills, context),
    lostProject(own).pipe(tap(lost)),
    onDemand ? EMPTY : upkeep(context, services),
  );
  return merge(
    around$.pipe(takeUntil(over$)),
    heartbeats.until(over$),
    ...Object.values(readers).map((read) => event$.pipe(tap(read))),
    questionStatus(event$, services).pipe(tap(status.apply), takeUntil(over$)),
    source$.pipe(tap(event$)),
  );
}

/** The questions of runs for the status. Runs that an earlier scheduler started may begin with open ones. */
function questionStatus(
  event$: Observable<RunEvent>,
  { questions }: Services,
): Observable<QuestionStatusEvent> {
  const adopted$ = event$.pipe(
    mergeMap((event) =>
      event.type === "started" && event.startedAt !== undefined
        ? questions.ofRun(event.instanceId)
        : [],
    ),
  );
  return merge(questions.changed$, adopted$).pipe(
    map(({ id, agent, instanceId, state }) => {
      return { type: "question", id, agent, instanceId, isOpen: state === "open" };
    }),
  );
}

/** Edits of the project's own config. */
function projectEdits(
  context: SchedulerContext,
  { slots, starting, alerts, egress, http: { listener } }: Services,
  files: EffectSources["files"],
  { project, warnings }: LoadedProject,
): Observable<unknown> {
  const first = { type: "set", project, warnings } as const;
  return projectChanges(context.projectDir, files.project$, filterTable, first).pipe(
    tap((change) => {
      alerts.onProjectConfig(change.type === "invalid" ? problemSummary(change.problems) : null);
      reloadProject(change, context, { slots, starting }, listener.isSettled());
      listener.onProject();
      egress.recheck();
    }),
  );
}

/** The status names the skills without config.toml; the log names each added one. The start logs the first ones. */
function skillWarnings(
  { problem$ }: EffectSources["skills"],
  { status, warn }: SchedulerContext,
): Observable<unknown> {
  return problem$.pipe(
    map((problems) => problems.map(problemText)),
    tap((warnings) => status.apply({ type: "scheduler", patch: { warnings } })),
    pairwise(),
    tap(([before, now]) => now.filter((text) => !before.includes(text)).forEach(warn)),
  );
}

/** Warnings and maintenance of a scheduler that runs for longer than one run. */
function upkeep(
  { projectDir, home, store, status, project$, inputs, logWriter, warn }: SchedulerContext,
  { search, backfills, keptFiles }: Services,
): Observable<unknown> {
  const { stopping$ } = inputs;
  const sweep = async (before: number) => {
    await keptFiles.blobs.sweep(store.usedBlobs());
    await keptFiles.removeUnused(before);
  };
  return merge(
    store
      .tables(createRefusedDeliveries)
      .written$.pipe(tap(() => status.apply({ type: "list", list: "triggers" }))),
    logWriter.grown$.pipe(tap(search.grew)),
    backfills.resumed$,
    merge(missingSecrets(home, project$), unknownModelWarnings(project$)).pipe(tap(warn)),
    housekeeping({ projectDir, store, project$, stopping$, sweep, onPruned: search.pruned, warn }),
  );
}

/** Logs changed credentials; emits unmet requirements of runs. */
function requirements(
  { home, env, project$, status, log }: SchedulerContext,
  { refusedKeys }: Services,
  event$: Observable<RunEvent>,
): Observable<RunEvent> {
  const poll$ = pollCredentials(home).pipe(share());
  const refused$ = refusedKeys.changed$.pipe(map(() => true));
  const users = { webhooks: () => project$.value.webhooks, agents: () => status.agents() };
  return merge(
    credentialChanges(poll$, users).pipe(
      tap((message) => log(30, message)),
      ignoreElements(),
    ),
    requirementEvents(event$, merge(credentialsDiffer(poll$), refused$), {
      agent: (name) => status.agent(name),
      agents: () => status.agents(),
      check: () => requirementCheck(home, env, refusedKeys),
      now: Date.now,
    }),
  );
}

/** The assumed values of unknown models, once each; external command lines know their own models. */
function unknownModelWarnings(project$: Observable<ProjectConfig>): Observable<string> {
  return project$.pipe(
    filter(({ harness }) => harnesses[harness.type].callsModels),
    concatMap(({ models }) => from(unknownModels(Object.values(models)))),
    mergeMap((unknown) => unknown),
    map(({ problem, fix }) => `${problem}; ${fix}`),
    distinct(),
  );
}

type Reader = (event: RunEvent) => void;

/**
 * The readers of `event$`. Each gets every event, redacted, before the next reader: the status first, because others
 * look up agents in it, and `requests` last, because it answers callers from the committed history.
 */
function eventReaders(
  context: SchedulerContext,
  services: Services,
  heartbeats: Heartbeats,
  print: (entry: LogEntry) => void,
) {
  const { alerts, backfills, budgets, egress, firstEvents, http } = services;
  const { keptFiles, meter, proposals, requests, telemetry } = services;
  return {
    status: context.status.apply,
    commit: commitEvents(context, [
      // A person watches a run of `al run` without a scheduler, so it raises no alerts.
      ...(context.onDemand ? [] : [alerts.onEvent]),
      ...keptFiles.writesOf,
    ]),
    budgets: budgets.onEvent,
    log: logEvents(context, print),
    egress: ({ type }) => {
      if (type === "agent-set" || type === "agent-removed") egress.recheck();
    },
    webhooks: http.webhooks.onEvent,
    keyless: keylessWarnings(context),
    metrics: http.metrics.onEvent,
    listener: http.listener.onEvent,
    heartbeats: heartbeats.onEvent,
    telemetry: telemetry.onEvent,
    firstEvents: firstEvents.see,
    backfills: backfills.onEvent,
    meter: (event) => {
      if (event.type === "finished") meter.runEnded(event.instanceId);
    },
    requests: requests.onEvent,
    // After the commit, which stores them.
    proposals: proposals.onEvent,
  } satisfies Readonly<Record<string, Reader>>;
}
