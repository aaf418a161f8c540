import type { Job, JobNetwork } from "../../foundation/contracts/job.ts";
import { networkVariable } from "../../foundation/contracts/run-place.ts";
import { connectCommandName } from "../../foundation/contracts/run-requests/table.ts";
import { writeTrust } from "./trust.ts";

/** What the run itself listens on: no proxy reaches that. */
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** The names that programs know; curl reads `http_proxy` in lower case only. */
const proxyNames = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] as const;

type Variables = Readonly<Record<string, string>>;

/** Whether the bridge is the only way out of this run: by its job, unless its start found that it can't be so. */
export function isClosed({ network }: Pick<Job, "network">, env: NodeJS.ProcessEnv): boolean {
  return network?.closed === true && env[networkVariable] !== "open";
}

/**
 * The variables by which the agent's commands reach hosts: through the bridge, when `proxyUrl` is its address, else by the
 * proxies of the job; and the job's certificates.
 */
export async function networkVariables(
  { network, workDir }: Pick<Job, "network" | "workDir">,
  proxyUrl: string | null,
): Promise<Variables> {
  if (network === undefined) return {};
  const variables =
    proxyUrl === null ? withoutLoopback(network.variables) : bridgeVariables(proxyUrl);
  const { authority = null, certificates } = network;
  return { ...variables, ...(await writeTrust({ authority, certificates, workDir })) };
}

function bridgeVariables(proxyUrl: string): Variables {
  const names = proxyNames.flatMap((name) => [name, name.toLowerCase()]);
  const proxies = Object.fromEntries(names.map((name) => [name, proxyUrl]));
  // Node's own fetch and http know no proxy without it.
  return withoutLoopback({ ...proxies, NODE_USE_ENV_PROXY: "1" });
}

/** Some programs read the upper case names and some the lower case ones: both get the same exceptions. */
function withoutLoopback(variables: JobNetwork["variables"]): JobNetwork["variables"] {
  if (Object.keys(variables).length === 0) return variables;
  const given = variables.NO_PROXY ?? variables.no_proxy ?? "";
  const exceptions = [...given.split(",").filter((host) => host.trim() !== ""), ...loopback];
  const noProxy = exceptions.join(",");
  return { ...variables, NO_PROXY: noProxy, no_proxy: noProxy };
}

const proxyCommand = `-o ProxyCommand="${connectCommandName} %h %p"`;

/** The same variables, with git's ssh through the bridge: that of each `git_ssh` credential, and that of none. */
export function withSshThroughBridge(variables: Variables): Variables {
  const { GIT_SSH_COMMAND = "ssh" } = variables;
  const commands = Object.entries({ ...variables, GIT_SSH_COMMAND })
    .filter(([name]) => /^GIT_SSH_(\w+_)?COMMAND$/.test(name))
    .map(([name, command]) => [name, `${command} ${proxyCommand}`] as const);
  return { ...variables, ...Object.fromEntries(commands) };
}
