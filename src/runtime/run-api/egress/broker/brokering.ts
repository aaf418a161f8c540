import { networkOf } from "../../../../../streams/run-network.ts";
import { runtimes } from "../../../../../streams/runtimes.ts";
import type { AgentConfig } from "../../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../../../../foundation/config/project-config.ts";
import { githubAppType } from "../../../../foundation/contracts/credential-reference.ts";
import type { SecretBinding } from "../../../../foundation/contracts/network-allow.ts";
import type { InstallationTokens } from "../../../../features/github-app/installation-tokens.ts";
import { tokenCredential } from "../../../../foundation/credentials/token-credential.ts";
import { brokerCredential } from "../../../../foundation/credentials/broker-credentials.ts";
import { createAuthorities } from "./run-authority.ts";
import { createIntercept } from "./intercept.ts";
import { isOwnUser } from "../../../wire/supervisor-process.ts";
import type { SchedulerContext } from "../../../../foundation/context.ts";
import type { Credential } from "../../../../foundation/credentials/load-credential.ts";

/** A run's credentials, with sentinels in place of brokered secrets. */
export interface RunCredentials {
  readonly credentials: readonly Credential[];
  /** Certificate of the run's authority, as PEM; null if no credential is brokered. */
  readonly authority: string | null;
}

export type Brokering = ReturnType<typeof createBrokering>;

/**
 * Keeps the secrets of bound credentials outside of runs, and inserts them into requests to their hosts. Everything
 * derives from the project's key, so runs of an earlier scheduler keep their sentinels and authorities. `whyNotClosed`
 * returns why the network of a run of this OS user can't be closed; null if it can. `tokenFor` mints the tokens of GitHub Apps,
 * whose private keys no run gets.
 */
export function createBrokering(
  { store, project$, credential }: SchedulerContext,
  whyNotClosed: () => Promise<string | null>,
  tokenFor: InstallationTokens["tokenFor"],
) {
  const projectKey = (): string => store.settings.maskKey();
  const authorityOf = createAuthorities(projectKey);
  // Before it is minted, a token is only a prefix.
  const brokered = async (request: RunRequest, credentials: readonly Credential[]) => {
    const { instanceId, agent } = request;
    const moreHosts = project$.value.network?.credentials ?? {};
    const options = { projectKey: projectKey(), instanceId, moreHosts };
    const isClosed = await isSurelyClosed(agent, project$.value, whyNotClosed);
    return credentials.map((stored) => {
      const given = stored.type === githubAppType ? tokenCredential(stored, "ghs_") : stored;
      if (!isClosed) return { stored, inRun: given, bindings: [] };
      const { inRun, bindings } = brokerCredential(stored, options, given);
      if (given === stored) return { stored, inRun, bindings };
      const mint = () => tokenFor(request, stored, false);
      return { stored, inRun, bindings: bindings.map((one) => ({ ...one, secret: null, mint })) };
    });
  };
  /** A run with an open network gets a token of its own. */
  const withToken = async (
    request: RunRequest,
    { stored, inRun, bindings }: Awaited<ReturnType<typeof brokered>>[number],
  ): Promise<Credential> =>
    stored.type !== githubAppType || bindings.length > 0
      ? inRun
      : { ...inRun, fields: { ...inRun.fields, token: await tokenFor(request, stored, true) } };
  return {
    /** The credentials for the run, with sentinels in place of brokered secrets. */
    forRun: async (
      request: RunRequest,
      credentials: readonly Credential[],
    ): Promise<RunCredentials> => {
      const all = await brokered(request, credentials);
      const hosts = new Set(all.flatMap(({ bindings }) => bindings).flatMap((one) => one.hosts));
      const inRun = await Promise.all(all.map((one) => withToken(request, one)));
      if (hosts.size === 0) return { credentials: inRun, authority: null };
      const authority = await authorityOf(request.instanceId);
      return { credentials: inRun, authority: authority.certificate([...hosts]) };
    },
    /** The secrets for the requests of a run, as stored now. The sentinel of a removed credential is refused. */
    bindings: async (request: RunRequest): Promise<readonly SecretBinding[]> => {
      const stored = await Promise.allSettled(request.agent.credentials.map(credential));
      const credentials = stored.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      return (await brokered(request, credentials)).flatMap(({ bindings }) => bindings);
    },
    intercept: createIntercept(async (instanceId, host) =>
      (await authorityOf(instanceId)).contextFor(host),
    ),
  };
}

/**
 * Whether the run's network will be closed for certain. Otherwise the run needs its secrets. For another OS user, the
 * kernel's support is unknown until the run starts.
 */
async function isSurelyClosed(
  agent: AgentConfig,
  project: ProjectConfig,
  whyNotClosed: () => Promise<string | null>,
): Promise<boolean> {
  const network = networkOf(agent, project);
  if (network !== "closed-if-possible") return network === "closed";
  const { type, runAs } = agent.runtime;
  return runtimes[type].isolates || (isOwnUser(runAs) && (await whyNotClosed()) === null);
}
