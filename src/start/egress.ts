import type { AgentConfig } from "../../streams/agent-config.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import type { EgressPolicy } from "../foundation/contracts/egress.ts";
import { allowList } from "../foundation/credentials/allowed-hosts.ts";
import type { Credential } from "../foundation/credentials/load-credential.ts";
import { ownAddresses } from "../runtime/run-api/egress/addresses.ts";
import { dialDirect } from "../runtime/run-api/egress/dial.ts";
import type { Dial } from "../runtime/run-api/egress/dial.ts";
import { createEgress } from "../runtime/run-api/egress/egress.ts";
import type { Egress, EgressDeps } from "../runtime/run-api/egress/egress.ts";
import { createResolve } from "../runtime/run-api/egress/resolve.ts";
import type { Resolve } from "../runtime/run-api/egress/resolve.ts";
import type { LiveRun } from "../runtime/runs/live-run.ts";
import type { Brokering } from "./brokering.ts";

/** How hosts are found and reached, where that is not by this machine's own resolver and sockets. */
export interface EgressOptions {
  readonly resolve?: Resolve;
  readonly dial?: Dial;
}

export interface EgressWiring {
  readonly runs: { get(instanceId: string): Pick<LiveRun, "request"> };
  /** The agent's config as it is now; undefined when it is gone. */
  readonly agent: (name: string) => AgentConfig | undefined;
  readonly project: () => Pick<ProjectConfig, "network">;
  /** Rejects when it is missing. */
  readonly credential: (reference: string) => Promise<Pick<Credential, "fields">>;
  /** Where the gateway listens; null when it does not. */
  readonly gatewayUrl: () => string | null;
  readonly env: NodeJS.ProcessEnv;
  /** Secrets that stay outside of the run, and what puts them into its requests. */
  readonly bindings: Brokering["bindings"];
  readonly intercept: Brokering["intercept"];
  readonly onAttempt: EgressDeps["onAttempt"];
  readonly warn: (message: string) => void;
}

/** The way of runs to other hosts than their models, by the current config of each run's agent. */
export function createRunEgress(wiring: EgressWiring, options: EgressOptions = {}): Egress {
  const { resolve = createResolve(), dial = dialDirect } = options;
  return createEgress({
    policy: (instanceId) => policyOf(instanceId, wiring),
    resolve,
    dial,
    ownAddresses,
    proxyEnv: wiring.env,
    intercept: wiring.intercept,
    onAttempt: wiring.onAttempt,
    onProblem: wiring.warn,
  });
}

/** What a run may reach as of now: with its credentials, by its project, by its agent. */
export async function policyOf(
  instanceId: string,
  wiring: Omit<EgressWiring, "env" | "intercept" | "onAttempt" | "warn">,
): Promise<EgressPolicy> {
  const { request } = wiring.runs.get(instanceId);
  const agent = wiring.agent(request.agent.name) ?? request.agent;
  const { network } = wiring.project();
  return {
    agent: agent.name,
    allow: await allowList(agent, network, wiring.credential),
    ownPort: portOf(wiring.gatewayUrl()),
    bindings: await wiring.bindings(request),
  };
}

function portOf(url: string | null): number | null {
  if (url === null) return null;
  const { port, protocol } = new URL(url);
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}
