import { EMPTY, merge, Subject, takeUntil, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { RunEvent } from "../../streams/vocabulary.ts";
import { filterTable } from "../webhooks/providers/table.ts";
import { credentialChanges } from "./credential-changes.ts";
import { eventReader } from "./event-reader.ts";
import { housekeeping } from "./housekeeping.ts";
import { lostProject } from "./lost-project.ts";
import { missingSecrets } from "./missing-secrets.ts";
import type { Beginning, Parts } from "./parts.ts";
import { projectChanges } from "./project-changes.ts";
import { reloadProject } from "./reload-project.ts";
import type { WarmRunners } from "./warm-runners.ts";
import type { WatchedFiles } from "./watch-files.ts";

export interface Flowing {
  /** The graph of all agents. */
  readonly event$: Observable<RunEvent>;
  readonly files: Pick<WatchedFiles, "project$" | "warning$">;
  readonly warm: Pick<WarmRunners, "see">;
  /** The project's directory is gone or somebody else's; `why` is for a person. */
  readonly lost: (why: string) => void;
}

/** All that happens while a scheduler runs, each told to whom it concerns; completes when the graph does. */
export function happenings(
  beginning: Beginning,
  parts: Parts,
  { event$, files, warm, lost }: Flowing,
): Observable<unknown> {
  const { inputs, own } = beginning;
  const { reporting, abilities, serving } = parts;
  const over$ = new Subject<void>();
  const { store } = own;
  const readEvent = eventReader({
    ...{ ...parts, ...serving, inputs, store, redact: own.redactor.redact },
  });
  const graph$ = event$.pipe(tap(warm.see), tap({ next: readEvent, complete: () => over$.next() }));
  const beside$ = merge(
    abilities.claim$.pipe(tap((event) => reporting.board.apply(event))),
    // Before the graph, as runs that are adopted go on with what they asked for.
    abilities.event$.pipe(tap(readEvent)),
  );
  const around$ = merge(
    editsOf(beginning, parts, files),
    merge(files.warning$, serving.keyChange$).pipe(tap(parts.warn)),
    lostProject(own.lock).pipe(tap(lost)),
    upkeep(beginning, parts),
  );
  return merge(beside$.pipe(takeUntil(over$)), graph$, around$.pipe(takeUntil(over$)));
}

/** Edits of the project's own config. */
function editsOf(
  { options, loaded, inputs: { project$ } }: Beginning,
  { reporting, places, serving }: Parts,
  files: Flowing["files"],
): Observable<unknown> {
  const first = { type: "set", ...loaded } as const;
  return projectChanges(options.projectDir, files.project$, filterTable, first).pipe(
    tap((change) => {
      const { listening } = serving;
      const isListening = (): boolean => listening.isSettled();
      reloadProject(change, { ...reporting, project$, places, isListening });
      listening.seeProject();
    }),
  );
}

/** What a scheduler that stays sees to. */
function upkeep(
  { options, own, inputs: { project$ } }: Beginning,
  { reporting: { board, journal }, warn }: Parts,
): Observable<unknown> {
  if (options.onDemand === true) return EMPTY;
  const { projectDir } = options;
  const users = { webhooks: () => project$.value.webhooks, agents: () => board.agents() };
  return merge(
    credentialChanges(own.home, users).pipe(tap((message) => journal.say(30, message))),
    missingSecrets(own.home, project$).pipe(tap(warn)),
    housekeeping({ projectDir, store: own.store, project$, warn }),
  );
}
