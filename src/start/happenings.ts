import { EMPTY, ignoreElements, map, merge, pairwise, share, Subject, takeUntil, tap } from "rxjs";
import type { Observable } from "rxjs";
import { problemText } from "../../streams/problem-text.ts";
import type { RunEvent } from "../../streams/vocabulary.ts";
import { filterTable } from "../webhooks/providers/table.ts";
import {
  credentialChanges,
  credentialLooks,
  credentialsDiffer,
} from "../credentials/credential-changes.ts";
import { eventReader } from "./event-reader.ts";
import { housekeeping } from "./housekeeping.ts";
import { lostProject } from "./lost-project.ts";
import { missingSecrets } from "../credentials/missing-secrets.ts";
import type { Beginning, Parts } from "./parts.ts";
import { projectChanges } from "./project-changes.ts";
import { reloadProject } from "./reload-project.ts";
import { requirementEvents } from "./requirement-events.ts";
import { requirementLook } from "./requirements.ts";
import type { UnconfiguredSkills } from "./unconfigured-skills.ts";
import { unknownModelWarnings } from "./unknown-models.ts";
import type { Prewarming } from "../runners/host-user/prewarm-users.ts";
import type { WatchedFiles } from "../files/watch-files.ts";

export interface Flowing {
  /** The graph of all agents. */
  readonly event$: Observable<RunEvent>;
  readonly files: Pick<WatchedFiles, "project$" | "warning$">;
  readonly skills: Pick<UnconfiguredSkills, "problem$">;
  readonly warm: Pick<Prewarming, "onEvent">;
  /** The project's directory is gone or somebody else's; `why` is for a person. */
  readonly lost: (why: string) => void;
}

/** All that happens while a scheduler runs, each told to whom it concerns; completes when the graph does. */
export function happenings(
  beginning: Beginning,
  parts: Parts,
  { event$, files, skills, warm, lost }: Flowing,
): Observable<unknown> {
  const { inputs, own } = beginning;
  const { reporting, requests, runs, serving } = parts;
  const over$ = new Subject<void>();
  const { store } = own;
  const readEvent = eventReader({
    ...{ ...parts, ...serving, inputs, store, redact: own.redactor.redact },
  });
  const graph$ = event$.pipe(
    tap(warm.onEvent),
    tap({ next: readEvent, complete: () => over$.next() }),
  );
  const beside$ = merge(
    requests.claim$.pipe(tap((event) => reporting.board.apply(event))),
    // Before the graph, as adopted runs resume their waits.
    runs.event$.pipe(tap(readEvent)),
  );
  const around$ = merge(
    editsOf(beginning, parts, files),
    merge(files.warning$, serving.keyChange$).pipe(tap(parts.warn)),
    lostProject(own.lock).pipe(tap(lost)),
    skillWarnings(skills, parts),
    upkeep(beginning, parts),
    requirements(beginning, parts, event$).pipe(tap(readEvent)),
  );
  return merge(beside$.pipe(takeUntil(over$)), graph$, around$.pipe(takeUntil(over$)));
}

/** Edits of the project's own config. */
function editsOf(
  { options, loaded, inputs: { project$ } }: Beginning,
  { reporting, places, starting, serving }: Parts,
  files: Flowing["files"],
): Observable<unknown> {
  const first = { type: "set", ...loaded } as const;
  return projectChanges(options.projectDir, files.project$, filterTable, first).pipe(
    tap((change) => {
      const { board, journal } = reporting;
      const { listening } = serving;
      const isListening = (): boolean => listening.isSettled();
      reloadProject(change, { board, journal, project$, places, starting, isListening });
      listening.onProject();
    }),
  );
}

/** The status names the skills without config.toml; the log names each that comes. The start logs the first ones. */
function skillWarnings(
  { problem$ }: Flowing["skills"],
  { reporting: { board }, warn }: Parts,
): Observable<unknown> {
  return problem$.pipe(
    map((problems) => problems.map(problemText)),
    tap((warnings) => board.apply({ type: "scheduler", patch: { warnings } })),
    pairwise(),
    tap(([before, now]) => now.filter((text) => !before.includes(text)).forEach(warn)),
  );
}

/** What a scheduler that stays sees to. */
function upkeep(
  { options, own, inputs: { project$ } }: Beginning,
  { warn }: Parts,
): Observable<unknown> {
  if (options.onDemand === true) return EMPTY;
  const { projectDir } = options;
  return merge(
    merge(missingSecrets(own.home, project$), unknownModelWarnings(project$)).pipe(tap(warn)),
    housekeeping({ projectDir, store: own.store, project$, warn }),
  );
}

/** Logs credentials that come and go; emits what runs need and do not have. */
function requirements(
  { options, own, inputs: { project$ } }: Beginning,
  { reporting: { board, journal } }: Parts,
  event$: Observable<RunEvent>,
): Observable<RunEvent> {
  if (options.onDemand === true) return EMPTY;
  const look$ = credentialLooks(own.home).pipe(share());
  const users = { webhooks: () => project$.value.webhooks, agents: () => board.agents() };
  return merge(
    credentialChanges(look$, users).pipe(
      tap((message) => journal.say(30, message)),
      ignoreElements(),
    ),
    requirementEvents(event$, credentialsDiffer(look$), {
      agent: (name) => board.agent(name),
      agents: () => board.agents(),
      look: () => requirementLook(own.home, options.env),
      now: Date.now,
    }),
  );
}
