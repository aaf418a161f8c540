import { filter, interval, map, take } from "rxjs";
import type { Observable } from "rxjs";
import type { ProjectLock } from "../store/project-lock.ts";

/**
 * Emits once, why, when the project is held no more: somebody removed `.al`, as `git clean -fdx` does. What is
 * recorded from then on is lost, and another scheduler may start. `everyMs` is between two looks.
 */
export function lostProject(
  lock: Pick<ProjectLock, "isHeld">,
  everyMs = 2_000,
): Observable<string> {
  return interval(everyMs).pipe(
    filter(() => !lock.isHeld()),
    take(1),
    map(() => "the folder .al was removed, and with it the history and all work that waited"),
  );
}
