import { hash as digest, randomBytes } from "node:crypto";
import { defer, filter, interval, merge, NEVER, of, Subject, type Observable } from "rxjs";
import { apiTokenPrefix, type ApiToken } from "../../foundation/contracts/scopes.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";
import { tokenView } from "./token-report.ts";
import type { CreatedToken, NewToken, StoredToken, TokensReport } from "./token-report.ts";
import type { TokenStore } from "./token-store.ts";

interface TokensDeps {
  readonly store: TokenStore;
  /** Epoch ms. */
  readonly now: () => number;
  readonly warn: (message: string) => void;
}

const dayMs = 86_400_000;
/** A token's use is written at most this often. */
const noteEveryMs = 60_000;
/** How often a stream checks whether its token has expired, in ms; a timer could not wait for 90 days. */
const checkEveryMs = 1_000;

/** API tokens. All are in memory, found by their hash: a request with a token reads nothing from disk. */
export function createTokens({ store, now, warn }: TokensDeps) {
  const byHash = new Map(store.all().map((token) => [token.hash, token]));
  const written = new Map<string, number>();
  const removed$ = new Subject<string>();

  const live = (hash: string): StoredToken | null => {
    const token = byHash.get(hash);
    return token !== undefined && now() < token.expiresAt ? token : null;
  };
  const noteUse = (token: StoredToken): void => {
    const { hash } = token;
    const at = now();
    byHash.set(hash, { ...token, lastUsedAt: at });
    if (Math.abs(at - (written.get(hash) ?? -Infinity)) < noteEveryMs) return;
    written.set(hash, at);
    store.use(hash, at).catch((error: unknown) => {
      warn(`the last use of the API token ${token.name} is not recorded: ${messageOf(error)}`);
    });
  };
  /** Stores a removal that failed once the store takes it, and warns that a restart before that undoes it. */
  const removedInMemory = (name: string, cause: unknown): Problem => {
    const message = `The API token ${name} is refused from now on. Its removal is not stored yet (${messageOf(cause)}): if the scheduler restarts before it is, the token is valid again.`;
    warn(message);
    store.removeLater(name).catch(() => warn(message));
    return new Problem("store_unavailable", message, { cause });
  };
  return {
    /** The live token of a secret, whose last use is noted; null for an unknown or expired one. */
    use: (secret: string): ApiToken | null => {
      const token = secret.startsWith(apiTokenPrefix) ? live(hashOf(secret)) : null;
      if (token !== null) noteUse(token);
      return token;
    },
    /** Emits once the token of a secret is removed or has expired, at once if it is not live. */
    end$: (secret: string): Observable<unknown> => {
      const hash = hashOf(secret);
      const isOver = (): boolean => live(hash) === null;
      return merge(
        removed$.pipe(filter((removed) => removed === hash)),
        interval(checkEveryMs).pipe(filter(isOver)),
        defer(() => (isOver() ? of(null) : NEVER)),
      );
    },
    list: (): TokensReport => ({
      tokens: [...byHash.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((token) => tokenView(token, now())),
    }),
    /** Creates a token; only this answer has its secret. Rejects with Problem `token_exists` or `too_many_tokens`. */
    create: async ({ name, scopes, agents = null, days }: NewToken): Promise<CreatedToken> => {
      const secret = apiTokenPrefix + randomBytes(32).toString("base64url");
      const created: StoredToken = {
        name,
        scopes: [...new Set(scopes)],
        agents: agents && [...new Set(agents)],
        hash: hashOf(secret),
        createdAt: now(),
        expiresAt: now() + days * dayMs,
        lastUsedAt: null,
      };
      await store.add(created);
      forget(byHash, name);
      byHash.set(created.hash, created);
      return { ...tokenView(created, now()), token: secret };
    },
    /**
     * Ends a token and its streams at once. Rejects with Problem `unknown_token`, or `store_unavailable` if the removal
     * can't be stored yet.
     */
    remove: async (name: string): Promise<void> => {
      const hash = forget(byHash, name);
      if (hash !== undefined) removed$.next(hash);
      const wasStored = await store.remove(name).catch((error: unknown) => {
        throw hash === undefined ? error : removedInMemory(name, error);
      });
      if (wasStored) return;
      const message = `There is no token ${JSON.stringify(name)}.`;
      throw new Problem("unknown_token", message, "List the tokens with `al token ls`.");
    },
  };
}

export type Tokens = ReturnType<typeof createTokens>;

function forget(byHash: Map<string, StoredToken>, name: string): string | undefined {
  const token = [...byHash.values()].find((one) => one.name === name);
  if (token !== undefined) byHash.delete(token.hash);
  return token?.hash;
}

const hashOf = (secret: string): string => digest("sha256", secret);
