import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { catchError, defer, EMPTY, exhaustMap, interval, mergeMap, of, share, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Sessions } from "../contracts/sessions.ts";
import { ensureApiKey } from "../credentials/api-key.ts";
import type { ApiKey } from "../credentials/api-key.ts";
import { messageOf } from "../errors.ts";

export interface KeyInForceDeps {
  readonly home: string;
  readonly apiKey: ApiKey;
  readonly sessions: Pick<Sessions, "endAll">;
  /** Told every key, so that it can be kept out of what is written. */
  readonly redactor: { readonly add: (secrets: Iterable<string>) => void };
  readonly warn: (message: string) => void;
}

/** The API key that counts now. */
export interface KeyInForce {
  readonly key: () => string;
  /** Looks at the key's file while somebody listens; emits after another key came into force and sessions ended. */
  readonly change$: Observable<string>;
}

/** A new key is in force after this and what it takes to read it, in ms. */
const lookEveryMs = 1_000;

/**
 * Follows the key's file. Looking at one file costs nothing, and unlike a watch it survives every way of replacing
 * it.
 */
export function keyInForce(deps: KeyInForceDeps): KeyInForce {
  const { home, apiKey, sessions, redactor, warn } = deps;
  let seen = stampOf(statSync(apiKey.path));
  let key = apiKey.key;
  let sessionsAreOver = true;

  /** The key of a file that changed; null when it did not. */
  const look = async (): Promise<string | null> => {
    const stats = await stat(apiKey.path).catch(() => null);
    // Without a file the key stays: a start makes a new one, a running scheduler must not lock everybody out.
    if (stats === null || stampOf(stats) === seen) return null;
    seen = stampOf(stats);
    return (await ensureApiKey(home)).key;
  };
  const putInForce = (found: string | null): void => {
    // eslint-disable-next-line no-restricted-syntax -- both are ours, and nobody waits for the answer
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
    tap(putInForce),
    mergeMap(endSessions),
    catchError((error: unknown) => {
      warn(`the API key's file changed: ${messageOf(error)}`);
      return EMPTY;
    }),
  );
  const change$ = interval(lookEveryMs).pipe(
    exhaustMap(() => lookOnce),
    share(),
  );
  return { key: () => key, change$ };
}

/** Changes with the file's content, place and mode. */
function stampOf({ ino, ctimeMs }: { readonly ino: number; readonly ctimeMs: number }): string {
  return `${ino} ${ctimeMs}`;
}
