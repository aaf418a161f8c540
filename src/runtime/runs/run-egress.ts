import type { SchedulerContext } from "../../foundation/context.ts";
import type { EgressPolicy } from "../../foundation/contracts/network-allow.ts";
import { allowList } from "../../foundation/credentials/allowed-hosts.ts";
import { ownAddresses } from "../run-api/egress/addresses.ts";
import { dialDirect, type Dial } from "../run-api/egress/dial.ts";
import { createEgress, type EgressDeps } from "../run-api/egress/egress.ts";
import { createResolve, type Resolve } from "../run-api/egress/resolve.ts";
import type { LiveRun } from "./live-run.ts";
import type { Brokering } from "../run-api/egress/broker/brokering.ts";

/** Overrides of this machine's resolver and sockets. */
export interface EgressOptions {
  readonly resolve?: Resolve;
  readonly dial?: Dial;
}

/** Connects runs to hosts besides their models, by the current config of each run's agent. */
export function createRunEgress(
  context: SchedulerContext,
  runs: { get(instanceId: string): Pick<LiveRun, "request"> },
  { bindings, intercept }: Brokering,
  /** The gateway's own address, which runs can't reach; null while it doesn't listen. */
  gatewayUrl: () => string | null,
  door: Pick<EgressDeps, "onAttempt" | "approve" | "isHeld">,
  { resolve = createResolve(), dial = dialDirect }: EgressOptions = {},
) {
  const { env, project$, status, credential, warn } = context;
  /** Allows the hosts of the run's credentials, project and agent, as configured now. */
  const policy = async (instanceId: string): Promise<EgressPolicy> => {
    const { request } = runs.get(instanceId);
    const agent = status.agent(request.agent.name)?.config ?? request.agent;
    return {
      agent: agent.name,
      allow: await allowList(agent, project$.value.network, credential),
      ownPort: portOf(gatewayUrl()),
      bindings: await bindings(request),
      push: agent.workspace?.push,
    };
  };
  const egress = createEgress({
    policy,
    resolve,
    dial,
    ownAddresses,
    proxyEnv: env,
    intercept,
    ...door,
    onProblem: warn,
  });
  return { ...egress, policy };
}

/** The port of an address; null without one. */
export function portOf(url: string | null): number | null {
  if (url === null) return null;
  const { port, protocol } = new URL(url);
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}
