import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { catchError, defer, EMPTY, exhaustMap, interval, mergeMap, of, share, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Sessions } from "../contracts/sessions.ts";
import { ensureApiKey } from "./api-key.ts";
import type { ApiKey } from "./api-key.ts";
import { messageOf } from "../errors.ts";

export interface ActiveKeyDeps {
  readonly home: string;
  readonly apiKey: ApiKey;
  readonly sessions: Pick<Sessions, "endAll">;
  /** Told every key, so that it can be kept out of what is written. */
  readonly redactor: { readonly add: (secrets: Iterable<string>) => void };
  readonly warn: (message: string) => void;
}

/** The API key that is active now. */
export interface ActiveKey {
  readonly key: () => string;
  /** Polls the key's file while it is subscribed; emits after another key became active and sessions ended. */
  readonly change$: Observable<string>;
}

/** A new key is active after this time and the time that reading it takes. */
const pollMs = 1_000;

/**
 * Follows the key's file. Looking at one file costs nothing, and unlike a watch it survives every way of replacing
 * it.
 */
export function activeKey(deps: ActiveKeyDeps): ActiveKey {
  const { home, apiKey, sessions, redactor, warn } = deps;
  let seen = stampOf(statSync(apiKey.path));
  let key = apiKey.key;
  let sessionsAreOver = true;

  /** The key of a file that changed; null when it did not. */
  const look = async (): Promise<string | null> => {
    const stats = await stat(apiKey.path).catch(() => null);
    // Without a file the key stays: a start makes a new one, a running scheduler must not lock its operators out.
    if (stats === null || stampOf(stats) === seen) return null;
    seen = stampOf(stats);
    return (await ensureApiKey(home)).key;
  };
  const activate = (found: string | null): void => {
    // eslint-disable-next-line no-restricted-syntax -- both are ours, and no client measures the time of this
    if (found === null || found === key) return;
    key = found;
    redactor.add([found]);
    sessionsAreOver = false;
  };
  /** Tried again at each look: a session must not outlive its key because the store was held. */
  const endSessions = (): Observable<string> => {
    if (sessionsAreOver) return EMPTY;
    sessions.endAll();
    sessionsAreOver = true;
    return of("the API key changed: all sessions are over, and so are the streams of the old key");
  };
  const lookOnce = defer(look).pipe(
    tap(activate),
    mergeMap(endSessions),
    catchError((error: unknown) => {
      warn(`the API key's file changed: ${messageOf(error)}`);
      return EMPTY;
    }),
  );
  const change$ = interval(pollMs).pipe(
    exhaustMap(() => lookOnce),
    share(),
  );
  return { key: () => key, change$ };
}

/** Changes with the file's content, place and mode. */
function stampOf({ ino, ctimeMs }: { readonly ino: number; readonly ctimeMs: number }): string {
  return `${ino} ${ctimeMs}`;
}
