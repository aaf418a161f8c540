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
import type { RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import {
  credentialChanges,
  pollCredentials,
  credentialsDiffer,
} from "../foundation/credentials/credential-changes.ts";
import { missingSecrets } from "../foundation/credentials/missing-secrets.ts";
import type { WatchedFiles } from "../foundation/files/watch-files.ts";
import { unknownModels } from "../features/models/unknown-models.ts";
import type { Prewarming } from "../runtime/runners/host-user/prewarm-users.ts";
import { filterTable } from "../features/webhooks/providers/table.ts";
import { lostProject } from "./acquire-project.ts";
import type { Alerts } from "../features/alerts/alerts.ts";
import { createEventHandler } from "./event-handlers.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { housekeeping } from "./housekeeping.ts";
import { projectChanges, reloadProject } from "./project-changes.ts";
import type { UnconfiguredSkills } from "./agent-directories.ts";
import { requirementEvents, requirementCheck } from "./requirements.ts";
import { budgetWarnings } from "./run-meter.ts";
import { usedBudgetEvents } from "../features/spend/used-budget-events.ts";
import { spentEvents } from "../features/spend/spent-events.ts";
import type { SchedulerContext, Services } from "./services.ts";

export interface EffectSources {
  /** The graph of all agents. */
  readonly event$: Observable<RunEvent>;
  readonly files: Pick<WatchedFiles, "project$" | "warning$">;
  readonly skills: Pick<UnconfiguredSkills, "problem$">;
  readonly warm: Pick<Prewarming, "onEvent">;
  /** Called when the project's `.al` was removed; `why` is for a person. */
  readonly lost: (why: string) => void;
}

/** Everything that has effects while a scheduler runs; completes when the graph does. */
export function schedulerEffects(
  context: SchedulerContext,
  services: Services,
  { event$, files, skills, warm, lost }: EffectSources,
): Observable<unknown> {
  const { options, inputs, own, runs } = context;
  const { observability, requests, http, warn } = services;
  const { status, logger } = observability;
  const over$ = new Subject<void>();
  const heartbeats = createHeartbeats(context, services);
  const onEvent = createEventHandler({
    status,
    logger,
    http,
    firstEvents: services.firstEvents,
    requests,
    heartbeats,
    meter: services.meter,
    budgets: services.budgets,
    alerts: options.onDemand === true ? noAlerts : services.alerts,
    inputs,
    store: own.store,
    redact: own.redactor.redact,
    dispatch: services.dispatch,
  });
  const graph$ = event$.pipe(
    tap(warm.onEvent),
    tap({ next: onEvent, complete: () => over$.next() }),
  );
  const beside$ = merge(
    requests.lockStatus$.pipe(tap((event) => status.apply(event))),
    // Before the graph, as adopted runs resume their waits.
    runs.event$.pipe(tap(onEvent)),
    spentEvents(services.meter, () => inputs.project$.value.timezone, Date.now).pipe(tap(onEvent)),
    usedBudgetEvents({
      used$: services.budgets.used$,
      hasAgent: (name) => status.agent(name) !== undefined,
      now: Date.now,
    }).pipe(tap(onEvent)),
    services.meter.call$.pipe(tap(http.metrics.onCall)),
  );
  const around$ = merge(
    projectEdits(context, services, files),
    merge(
      merge(files.warning$, http.keyChange$, runs.problem$),
      budgetWarnings(services.meter, runs),
    ).pipe(tap(warn)),
    lostProject(own).pipe(tap(lost)),
    skillWarnings(skills, services),
    upkeep(context, services),
    options.onDemand === true ? EMPTY : alertsOf(services),
    requirements(context, services, event$).pipe(tap(onEvent)),
  );
  return merge(
    beside$.pipe(takeUntil(over$)),
    heartbeats.until(over$),
    graph$,
    around$.pipe(takeUntil(over$)),
  );
}

/** A run by `al run` without a scheduler is watched by the person who started it. */
const noAlerts: Pick<Alerts, "onEvent"> = { onEvent: () => undefined };

function alertsOf({ alerts, meter }: Services): Observable<unknown> {
  return merge(alerts.effect$, meter.warning$.pipe(tap(alerts.onWarning)));
}

/** Edits of the project's own config. */
function projectEdits(
  { options, loaded, inputs: { project$ } }: SchedulerContext,
  { observability: { status, logger }, slots, starting, alerts, http: { listener } }: Services,
  files: EffectSources["files"],
): Observable<unknown> {
  const first = { type: "set", project: loaded.project, warnings: loaded.warnings } as const;
  const isListening = (): boolean => listener.isSettled();
  return projectChanges(options.projectDir, files.project$, filterTable, first).pipe(
    tap((change) => {
      alerts.onProjectConfig(change.type === "invalid" ? problemSummary(change.problems) : null);
      reloadProject(change, { status, logger, project$, slots, starting, isListening });
      listener.onProject();
    }),
  );
}

/** The status names the skills without config.toml; the log names each that comes. The start logs the first ones. */
function skillWarnings(
  { problem$ }: EffectSources["skills"],
  { observability: { status }, warn }: Services,
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
  { options, own, inputs: { project$, stopping$ } }: SchedulerContext,
  { observability: { logWriter, search }, warn }: Services,
): Observable<unknown> {
  if (options.onDemand === true) return EMPTY;
  const { projectDir } = options;
  const onPruned = (): void => search.pruned();
  return merge(
    search.index(logWriter.grown$),
    merge(missingSecrets(own.home, project$), unknownModelWarnings(project$)).pipe(tap(warn)),
    housekeeping({ projectDir, store: own.store, project$, stopping$, onPruned, warn }),
  );
}

/** Logs changed credentials; emits what runs need and do not have. */
function requirements(
  { options, own, inputs: { project$ } }: SchedulerContext,
  { observability: { status, logger } }: Services,
  event$: Observable<RunEvent>,
): Observable<RunEvent> {
  if (options.onDemand === true) return EMPTY;
  const poll$ = pollCredentials(own.home).pipe(share());
  const users = { webhooks: () => project$.value.webhooks, agents: () => status.agents() };
  return merge(
    credentialChanges(poll$, users).pipe(
      tap((message) => logger.log(30, message)),
      ignoreElements(),
    ),
    requirementEvents(event$, credentialsDiffer(poll$), {
      agent: (name) => status.agent(name),
      agents: () => status.agents(),
      check: () => requirementCheck(own.home, options.env),
      now: Date.now,
    }),
  );
}

/** The defaults that unknown models get, once each; external command lines know their own models. */
function unknownModelWarnings(project$: Observable<ProjectConfig>): Observable<string> {
  return project$.pipe(
    filter(({ harness }) => harnesses[harness.type].callsModels),
    concatMap(({ models }) => from(unknownModels(Object.values(models)))),
    mergeMap((unknown) => unknown),
    map(({ what, fix }) => `${what}; ${fix}`),
    distinct(),
  );
}
