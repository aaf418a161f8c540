import { networkOf } from "../../../../../streams/run-network.ts";
import { runtimes } from "../../../../../streams/runtimes.ts";
import type { AgentConfig } from "../../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../../streams/vocabulary.ts";
import type { ProjectConfig } from "../../../../foundation/config/project-config.ts";
import type { SecretBinding } from "../../../../foundation/contracts/network-allow.ts";
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
 * returns why the network of a run of this OS user can't be closed; null if it can.
 */
export function createBrokering(
  { store, project$, credential }: SchedulerContext,
  whyNotClosed: () => Promise<string | null>,
) {
  const projectKey = (): string => store.settings.maskKey();
  const authorityOf = createAuthorities(projectKey);
  const brokered = async (
    { instanceId, agent }: RunRequest,
    credentials: readonly Credential[],
  ) => {
    const moreHosts = project$.value.network?.credentials ?? {};
    const options = { projectKey: projectKey(), instanceId, moreHosts };
    return (await isSurelyClosed(agent, project$.value, whyNotClosed))
      ? credentials.map((one) => brokerCredential(one, options))
      : credentials.map((one) => ({ inRun: one, bindings: [] }));
  };
  return {
    /** The credentials for the run, with sentinels in place of brokered secrets. */
    forRun: async (
      request: RunRequest,
      credentials: readonly Credential[],
    ): Promise<RunCredentials> => {
      const all = await brokered(request, credentials);
      const hosts = new Set(all.flatMap(({ bindings }) => bindings).flatMap((one) => one.hosts));
      const inRun = all.map((one) => one.inRun);
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
