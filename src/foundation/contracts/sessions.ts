import type { Observable } from "rxjs";

/**
 * Browser sessions. A token is known to the browser only; everything else knows its id, the token's SHA-256. Whatever
 * can't be done now throws UserError `store_unavailable`, and nothing changed.
 */
export interface Sessions {
  /**
   * The host name for which browsers on this machine get the cookie. Cookies ignore ports: a program that knows the name
   * can receive the cookie on its own port, so only callers with the key see the name.
   */
  readonly privateHost: string;
  /** Makes a session and returns its token: 256 random bits, base64url. */
  create(): string;
  /** The id of a live session; null for an unknown or expired token. */
  find(token: string): string | null;
  /** The id of a live session and a new start of its idle time; null for an unknown or expired token. */
  touch(token: string): string | null;
  end(id: string): void;
  endAll(): void;
  /** Ids of sessions as they end, by logout, key change or age. Hot. */
  readonly ended$: Observable<string>;
}
