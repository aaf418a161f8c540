import { debounceTime, distinctUntilChanged, from, map, skip, startWith, switchMap } from "rxjs";
import type { Observable } from "rxjs";
import { problemSummary, problemText, whileLastGoodCounts } from "../../streams/problem-text.ts";
import type { Slots } from "../../streams/runs/slots.ts";
import { describeProjectChange } from "../foundation/config/describe-project-change.ts";
import type { ProjectChange } from "../foundation/config/project-config.ts";
import { readProject } from "../foundation/config/read-project.ts";
import { resolveProject } from "../foundation/config/resolve-project.ts";
import type { FilterTable } from "../foundation/config/config-key.ts";
import { messageOf } from "../foundation/errors.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { sourceNames } from "./context.ts";

/** How long agents' files settle, in ms. */
const settleMs = 40;

/**
 * The project's config.toml each time its content changed, first compared with `first`; a missing or unreadable file is
 * invalid. Never errors.
 */
export function projectChanges(
  projectDir: string,
  touched$: Observable<unknown>,
  filters: FilterTable,
  first: ProjectChange,
): Observable<ProjectChange> {
  const read = async (): Promise<ProjectChange> => {
    try {
      return resolveProject(await readProject(projectDir), filters);
    } catch (error) {
      const problem = { severity: "error", file: "config.toml", line: null, column: null } as const;
      return { type: "invalid", problems: [{ ...problem, message: messageOf(error) }] };
    }
  };
  return touched$.pipe(
    debounceTime(settleMs),
    switchMap(() => from(read())),
    startWith(first),
    map((change) => ({ change, text: JSON.stringify(change) })),
    distinctUntilChanged((a, b) => a.text === b.text),
    map(({ change }) => change),
    skip(1),
  );
}

/** Activates a change of the project's config.toml; an invalid one is logged, and the last valid config stays active. */
export function reloadProject(
  change: ProjectChange,
  { status, log, project$ }: SchedulerContext,
  { slots, starting }: { readonly slots: Slots; readonly starting: Slots },
  /** Whether the gateway already listens on TCP, with its settings of that time. */
  isListening: boolean,
): void {
  if (change.type === "invalid") {
    const problems = whileLastGoodCounts(change.problems);
    status.apply({ type: "scheduler", patch: { error: problemSummary(problems) ?? "invalid" } });
    for (const problem of problems) log(50, problemText(problem));
    return;
  }
  const { project } = change;
  const { text, needsRestart } = describeProjectChange(project$.value, project);
  status.apply({ type: "scheduler", patch: { error: null, webhookSources: sourceNames(project) } });
  slots.resize(project.scale);
  starting.resize(project.local.starting);
  project$.next(project);
  for (const problem of change.warnings) log(40, problemText(problem));
  log(30, `config.toml ${text === "" ? "is valid again" : text}`);
  if (needsRestart && isListening) log(40, "changes of [gateway] take effect at the next start");
}
