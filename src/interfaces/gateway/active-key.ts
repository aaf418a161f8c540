import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { catchError, defer, EMPTY, exhaustMap, interval, mergeAll, of, share } from "rxjs";
import type { Observable } from "rxjs";
import type { Sessions } from "./sessions.ts";
import { findApiKey, type ApiKey } from "../../foundation/credentials/api-key.ts";
import { messageOf } from "../../foundation/errors.ts";

interface ActiveKeyDeps {
  readonly home: string;
  readonly apiKey: ApiKey;
  readonly sessions: Sessions;
  /** Receives every key, so that logs and answers are redacted. */
  readonly redactor: { readonly add: (secrets: Iterable<string>) => void };
  readonly warn: (message: string) => void;
}

/** A new key is active after this time and the time that reading it takes. */
const pollMs = 1_000;

/**
 * The active API key, from the key's file. Polling one file costs nothing, and unlike a watch it survives every way of
 * replacing it.
 */
export function activeKey({ home, apiKey, sessions, redactor, warn }: ActiveKeyDeps) {
  let seen = stampOf(statSync(apiKey.path));
  let key = apiKey.key;
  let sessionsAreOver = true;

  /** Reads a file that changed. */
  const look = async (): Promise<void> => {
    const stats = await stat(apiKey.path).catch(() => null);
    // Without a file the key stays: a start creates a new one, and a running scheduler must not lock its operators out.
    if (stats === null || stampOf(stats) === seen) return;
    seen = stampOf(stats);
    const found = (await findApiKey(home))?.key ?? key;
    // eslint-disable-next-line no-restricted-syntax -- both are ours, and no client measures the time of this
    if (found === key) return;
    key = found;
    redactor.add([found]);
    sessionsAreOver = false;
  };
  const lookOnce = async (): Promise<Observable<string>> => {
    await look();
    // Retried at each poll: a session must not outlive its key because the store was locked.
    if (sessionsAreOver) return EMPTY;
    sessions.endAll();
    sessionsAreOver = true;
    return of("the API key changed: all sessions and all streams of the old key have ended");
  };
  return {
    key: (): string => key,
    /** Polls the key's file while subscribed; emits after another key became active and sessions ended. */
    change$: interval(pollMs).pipe(
      exhaustMap(() =>
        defer(lookOnce).pipe(
          mergeAll(),
          catchError((error: unknown) => {
            warn(`the API key's file changed: ${messageOf(error)}`);
            return EMPTY;
          }),
        ),
      ),
      share(),
    ),
  };
}

/** Changes with the file's content, place and mode. */
function stampOf({ ino, ctimeMs }: { readonly ino: number; readonly ctimeMs: number }): string {
  return `${ino} ${ctimeMs}`;
}
