import { createHash } from "node:crypto";
import type { GithubAppScope } from "../../../streams/agent-config.ts";
import { messageOf, Problem, reasonOf } from "../../foundation/errors.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import { githubAppOf, type GithubApp } from "./app-api.ts";
import { mintToken, revokeToken, scopeOf, type InstallationToken } from "./mint-token.ts";

/** A live run, as far as its tokens need it. */
interface TokenHolder {
  /** Writes to the log of the run's agent. */
  warn(message: string): void;
  /** Calls back at the run's end. */
  onDispose(ending: () => void): void;
}

interface TokenDeps {
  /** Epoch ms. */
  readonly now: () => number;
  readonly run: (instanceId: string) => TokenHolder | undefined;
  /** Hides secrets from logs until the returned function is called. */
  readonly hide: (secrets: readonly string[]) => () => void;
  readonly onProblem: (message: string) => void;
}

/** Tokens of one app and scope. */
interface Lease {
  readonly app: GithubApp;
  readonly scope: GithubAppScope;
  readonly holders: Set<string>;
  /** Whether a run has the token itself. */
  readonly isInRun: boolean;
  /** Tokens that may be valid, revoked together: a request may still use the one before the last. */
  minted: readonly (InstallationToken & { readonly forget: () => void })[];
  current: Promise<InstallationToken> | null;
  /** When `current` is minted anew, in epoch ms. */
  renewAt: number;
}

/** A token is renewed this long before it expires, in ms: a slow request has to end with it. */
const renewMs = 5 * 60_000;
/** How long a failure is remembered, in ms: programs try again at once. */
const failedMs = 10_000;

/**
 * The tokens of runs. A token is minted when it is first asked for. Runs with the same app and scope share it: they
 * reach the same and never see it. The last of them to end revokes it. Tokens are in memory only; one of a killed
 * scheduler expires within an hour.
 */
export function createInstallationTokens({ now, run, hide, onProblem }: TokenDeps) {
  const leases = new Map<string, Lease>();
  const revoking = new Set<Promise<unknown>>();

  const dropExpired = (lease: Lease): void => {
    for (const { until, forget } of lease.minted) if (until <= now()) forget();
    lease.minted = lease.minted.filter(({ until }) => until > now());
  };
  const revoke = async (lease: Lease): Promise<void> => {
    await lease.current?.catch(() => null);
    dropExpired(lease);
    const { app, minted } = lease;
    await Promise.all(
      minted.map(async ({ token, forget }) => {
        await revokeToken(app, token).catch((error: unknown) => {
          onProblem(`a token of ${app.name} is valid until it expires: ${messageOf(error)}`);
        });
        forget();
      }),
    );
  };
  const end = (key: string, lease: Lease): void => {
    if (leases.get(key) !== lease) return;
    leases.delete(key);
    const revoked = revoke(lease).finally(() => revoking.delete(revoked));
    revoking.add(revoked);
  };
  const mint = async (lease: Lease): Promise<InstallationToken> => {
    const before = await lease.current?.catch(() => null);
    try {
      const made = await mintToken(lease.app, lease.scope, now());
      lease.renewAt = made.until - renewMs;
      dropExpired(lease);
      lease.minted = [...lease.minted, { ...made, forget: hide([made.token]) }];
      return made;
    } catch (error) {
      lease.renewAt = now() + failedMs;
      if (before && before.until > now()) return before;
      throw error;
    }
  };
  const leaseOf = (request: RunRequest, app: GithubApp, isInRun: boolean): Lease => {
    const { instanceId } = request;
    const holder = run(instanceId);
    if (holder === undefined) throw new Problem("unauthorized", "the run is over");
    const scope = scopeOf(request);
    const key = keyOf(app, scope, isInRun ? instanceId : "");
    const lease = leases.get(key) ?? newLease(app, scope, isInRun);
    leases.set(key, lease);
    if (!lease.holders.has(instanceId)) {
      lease.holders.add(instanceId);
      holder.onDispose(() => {
        lease.holders.delete(instanceId);
        if (lease.holders.size === 0) end(key, lease);
      });
    }
    return lease;
  };
  return {
    /**
     * A valid token for a run. `isInRun` is for a run that gets the token itself: it is shared with no other run. Rejects
     * with a Problem that is also in the run's log.
     */
    tokenFor: async (
      request: RunRequest,
      credential: Credential,
      isInRun: boolean,
    ): Promise<string> => {
      try {
        const lease = leaseOf(request, githubAppOf(credential), isInRun);
        if (lease.current === null || now() >= lease.renewAt) {
          lease.renewAt = Infinity;
          lease.current = mint(lease);
        }
        return (await lease.current).token;
      } catch (error) {
        run(request.instanceId)?.warn(reasonOf(error));
        throw error;
      }
    },
    /** Revokes all tokens that no run has itself; resolves when GitHub has answered. */
    close: async (): Promise<void> => {
      for (const [key, lease] of leases) if (!lease.isInRun) end(key, lease);
      await Promise.all(revoking);
    },
  };
}

export type InstallationTokens = ReturnType<typeof createInstallationTokens>;

function newLease(app: GithubApp, scope: GithubAppScope, isInRun: boolean): Lease {
  return { app, scope, isInRun, holders: new Set(), minted: [], current: null, renewAt: 0 };
}

/** Another key of the app mints other tokens: the old one may be revoked because it leaked. */
function keyOf(app: GithubApp, { repos, permissions }: GithubAppScope, owner: string): string {
  const scope = [
    repos.map((repo) => repo.toLowerCase()).sort(),
    Object.entries(permissions).sort(),
  ];
  return createHash("sha256")
    .update(JSON.stringify([app, scope, owner]))
    .digest("hex");
}
