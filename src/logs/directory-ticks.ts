import { watch } from "node:fs";
import { interval, map, merge, Observable, retry } from "rxjs";

/**
 * Says when files of a directory may have changed: the name of one as the system tells it, and null, for all of
 * them, every `everyMs`, because the system forgets some and a directory may not exist yet. Never errors.
 */
export function directoryTicks(dir: string, everyMs: number): Observable<string | null> {
  const check$ = interval(everyMs).pipe(map(() => null));
  // Out of watches, or no directory yet: the check alone does until watching works.
  return merge(watched(dir).pipe(retry({ delay: 10 * everyMs })), check$);
}

function watched(dir: string): Observable<string> {
  return new Observable((subscriber) => {
    const watcher = watch(dir, { persistent: false }, (_type, name) => {
      if (name !== null) subscriber.next(name);
    });
    watcher.on("error", (error) => subscriber.error(error));
    return () => watcher.close();
  });
}
