import { createHash, randomBytes } from "node:crypto";
import { Subject } from "rxjs";
import type { Sessions } from "../../src/interfaces/gateway/sessions.ts";

/** Sessions that live as long as the test. */
export function memorySessions(): Sessions {
  const live = new Set<string>();
  const ended = new Subject<string>();
  const end = (id: string): void => {
    if (live.delete(id)) ended.next(id);
  };
  return {
    privateHost: `almanac-${randomBytes(8).toString("hex")}.localhost`,
    create() {
      const token = randomBytes(32).toString("base64url");
      live.add(idOf(token));
      return token;
    },
    find: (token) => (live.has(idOf(token)) ? idOf(token) : null),
    touch: (token) => (live.has(idOf(token)) ? idOf(token) : null),
    end,
    endAll: () => [...live].forEach(end),
    ended$: ended.asObservable(),
    close: () => ended.complete(),
  };
}

function idOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
