import { Subject } from "rxjs";
import type { ModelConfig } from "../../../streams/agent-config.ts";
import { isSameSecret } from "../../foundation/contracts/request-limit.ts";
import type { ModelFailure } from "../wire/protocol.ts";

/** Why a provider takes no calls with a model's key. */
export interface Refusal {
  /** With the command that renews a login. */
  readonly reason: string;
  /** Whether it ends by itself, as a used-up subscription does: runs may try. */
  readonly isPassing: boolean;
}

/** A shorter wait is a rate limit, in ms. */
const shortestLimitMs = 10 * 60_000;

/** Words of providers about a login that only a person can renew. */
const deadLogin = /expired|revoked|invalid|incorrect|not valid/i;
/** Google answers 400 to a wrong key. */
const deadKey = /api[ _-]?key (?:not valid|expired|invalid)|API_KEY_INVALID/i;

/**
 * The keys that providers refuse, by model, until another one is stored. In memory: after a start, the first run finds out
 * again.
 */
export function createRefusedKeys(now: () => number) {
  const refusals = new Map<string, Refusal & { readonly key: string; readonly until: number }>();
  const changed$ = new Subject<void>();
  return {
    /** Emits when a key is refused that was not. */
    changed$: changed$.asObservable(),
    /** Takes a failed call of a model. Returns whether its key is refused. */
    take: (model: ModelConfig, key: string, status: number, failure: ModelFailure): boolean => {
      const { name } = model;
      const { message, retryAfterMs = 0 } = failure;
      const isLogin = (status === 401 ? deadLogin : deadKey).test(message);
      const isPassing = status === 429 && retryAfterMs >= shortestLimitMs;
      if (!isPassing && (status >= 500 || !isLogin)) return false;
      const until = isPassing ? now() + retryAfterMs : Infinity;
      const next = isPassing ? "" : `. Renew it: ${renewal(model)}`;
      const before = refusals.get(name);
      refusals.set(name, { key, until, isPassing, reason: `${message}${next}` });
      const isKnown = before !== undefined && isSameSecret(key, before.key) && before.until > now();
      if (!isKnown) changed$.next();
      return true;
    },
    /** Null for a key that may be used. */
    refusalOf: ({ name }: ModelConfig, key: string): Refusal | null => {
      const found = refusals.get(name);
      if (found === undefined || !isSameSecret(key, found.key)) return null;
      return found.until > now() ? found : null;
    },
  };
}

export type RefusedKeys = ReturnType<typeof createRefusedKeys>;

function renewal({ provider, authType, credential }: ModelConfig): string {
  const store = `al creds add ${credential}`;
  const isClaude = provider === "anthropic" && authType === "oauth_token";
  return isClaude ? `claude setup-token, then ${store}` : store;
}
