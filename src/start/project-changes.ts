import { debounceTime, distinctUntilChanged, from, map, skip, startWith, switchMap } from "rxjs";
import type { Observable } from "rxjs";
import { readProject } from "../config/read-project.ts";
import { resolveProject } from "../config/resolve-project.ts";
import type { ProjectChange } from "../config/project-config.ts";
import type { FilterTable } from "../contracts/webhook-filters.ts";
import { messageOf } from "../errors.ts";

/** As long as agents' files settle, in ms. */
const settleMs = 40;

/**
 * The project's config.toml each time it says something else than before, at first than `first`; a file that went or
 * can't be read is invalid. It is read once at subscription, because it may have changed since `first` was read.
 * Never errors.
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
    startWith(null),
    debounceTime(settleMs),
    switchMap(() => from(read())),
    startWith(first),
    map((change) => ({ change, text: JSON.stringify(change) })),
    distinctUntilChanged((a, b) => a.text === b.text),
    map(({ change }) => change),
    skip(1),
  );
}
