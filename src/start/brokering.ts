import { networkOf } from "../../streams/run-network.ts";
import { runtimes } from "../../streams/runtimes.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import type { SecretBinding } from "../foundation/contracts/egress.ts";
import { brokerCredential } from "../foundation/credentials/broker-credentials.ts";
import { createAuthorities } from "../runtime/run-api/egress/broker/authorities.ts";
import { createIntercept } from "../runtime/run-api/egress/broker/intercept.ts";
import type { Intercept } from "../runtime/run-api/egress/interception.ts";
import { isOwnUser } from "../runtime/runners/host-user/supervisor-process.ts";
import type { LoadedCredential, ModelSources } from "./model-calls.ts";

export interface BrokeringDeps extends Pick<ModelSources, "credential"> {
  /** The project's own key for hashes of secret values. */
  readonly projectKey: () => string;
  readonly project: () => ProjectConfig;
  /** Why the network of a run of this OS user can't be closed; null when it can. */
  readonly whyNotClosed: () => Promise<string | null>;
}

/** What a run gets of its credentials. */
export interface RunCredentials {
  readonly credentials: readonly LoadedCredential[];
  /** Certificate of its authority, as PEM; null when none of them is brokered. */
  readonly authority: string | null;
}

/** Keeps the secrets of bound credentials outside of runs, and puts them into requests to their hosts. */
export interface Brokering {
  readonly forRun: (
    request: RunRequest,
    credentials: readonly LoadedCredential[],
  ) => Promise<RunCredentials>;
  /** For the requests of that run: with credentials as they are stored now. */
  readonly bindings: (request: RunRequest) => Promise<readonly SecretBinding[]>;
  readonly intercept: Intercept;
}

/** All of it is derived from the project's key: for the runs of an earlier scheduler it is as it was. */
export function createBrokering(deps: BrokeringDeps): Brokering {
  const { projectKey, project, credential } = deps;
  const authorityOf = createAuthorities(projectKey, Date.now);
  const brokered = async (
    { instanceId, agent }: RunRequest,
    credentials: readonly LoadedCredential[],
  ) => {
    const moreHosts = project().network?.credentials ?? {};
    const options = { projectKey: projectKey(), instanceId, moreHosts };
    return (await isSurelyClosed(agent, deps))
      ? credentials.map((one) => brokerCredential(one, options))
      : credentials.map((one) => ({ inRun: one, bindings: [] }));
  };
  return {
    forRun: async (request, credentials) => {
      const all = await brokered(request, credentials);
      const hosts = new Set(all.flatMap(({ bindings }) => bindings).flatMap((one) => one.hosts));
      const inRun = all.map((one) => one.inRun);
      if (hosts.size === 0) return { credentials: inRun, authority: null };
      const authority = await authorityOf(request.instanceId);
      return { credentials: inRun, authority: authority.certificate([...hosts]) };
    },
    bindings: async (request) => {
      // One that is gone is put in nowhere; its sentinel is refused.
      const stored = await Promise.allSettled(request.agent.credentials.map(credential));
      const credentials = stored.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      return (await brokered(request, credentials)).flatMap(({ bindings }) => bindings);
    },
    intercept: createIntercept({
      contextFor: async (instanceId, host) => (await authorityOf(instanceId)).contextFor(host),
    }),
  };
}

/**
 * A host user's run may turn out to be open as it starts, and then needs its secrets. What the kernel allows another user
 * is not known before.
 */
async function isSurelyClosed(
  agent: AgentConfig,
  { project, whyNotClosed }: BrokeringDeps,
): Promise<boolean> {
  const network = networkOf(agent, project());
  if (network !== "closed-if-possible") return network === "closed";
  const { type, runAs } = agent.runtime;
  return runtimes[type].isolates || (isOwnUser(runAs) && (await whyNotClosed()) === null);
}
