import { readFile } from "node:fs/promises";
import type { RuntimeConfig, AgentConfig } from "../../../streams/agent-config.ts";
import { networkOf, type RunNetwork, type ProjectNetwork } from "../../../streams/run-network.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import type { JobNetwork } from "../../foundation/contracts/job.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { Configured } from "../../../streams/status/agent-record.ts";
import { isOwnUser } from "../wire/supervisor-process.ts";

const proxyVariables = [
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "https_proxy",
  "http_proxy",
  "no_proxy",
] as const;

/**
 * How this process reaches the network, for its runs: the proxies of its environment and the certificates that it
 * trusts beside Node's own. Undefined if it has neither. `warn` gets why certificates can't be read: runs start
 * without them, as Node itself does.
 */
export async function jobNetwork(
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): Promise<JobNetwork | undefined> {
  const proxies = proxyVariables.flatMap((name): [string, string][] => {
    const value = env[name]?.trim() ?? "";
    return value === "" ? [] : [[name, value]];
  });
  const certificates = await certificatesOf(env.NODE_EXTRA_CA_CERTS ?? "", warn);
  if (proxies.length === 0 && certificates === null) return undefined;
  return { variables: Object.fromEntries(proxies), certificates };
}

/**
 * The part of the machine's network settings that a run with this network mode gets. A run with a certainly closed
 * network can't use the proxies, whose addresses may hold passwords.
 */
export function networkOfRun(
  network: JobNetwork | undefined,
  mode: RunNetwork,
  { type }: RuntimeConfig,
): JobNetwork | undefined {
  if (mode === "open") return network;
  const { variables = {}, certificates = null } = network ?? {};
  const maybeOpen = mode === "closed-if-possible" && !runtimes[type].isolates;
  return { variables: maybeOpen ? variables : {}, certificates, closed: true };
}

/** Jobs live as long as their runs: a thousand of them share one copy of the certificates. */
let latest = "";

async function certificatesOf(path: string, warn: (message: string) => void) {
  if (path === "") return null;
  try {
    const text = await readFile(path, "utf8");
    if (text !== latest) latest = text;
    return latest;
  } catch (error) {
    warn(
      `NODE_EXTRA_CA_CERTS: ${path} cannot be read, so runs don't trust it: ${messageOf(error)}`,
    );
    return null;
  }
}

/** How many names of agents one line lists. */
const maxNames = 20;

/**
 * Which agents have an open network: a line for those whose config opens it, and one for those of the scheduler's own OS
 * user that can't be closed. `whyNotClosed` tries to close a network of that user; null if it can.
 */
export async function networkWarnings(
  records: Iterable<Configured>,
  project: ProjectNetwork,
  whyNotClosed: () => Promise<string | null>,
): Promise<readonly string[]> {
  const agents = [...records].flatMap(({ config }) => (config === null ? [] : [config]));
  const open = agents.filter((agent) => networkOf(agent, project) === "open");
  const lines = [...line(open, "the network is open, because of [local].network, for")];
  const ofOwnUser = agents.filter(
    (agent) => networkOf(agent, project) === "closed-if-possible" && isOfOwnUser(agent),
  );
  const why = ofOwnUser.length === 0 ? null : await whyNotClosed();
  if (why === null) return lines;
  return [
    ...lines,
    ...line(ofOwnUser, `the network is open, because it can't be closed (${why}), for`),
  ];
}

function isOfOwnUser({ runtime: { type, runAs } }: AgentConfig): boolean {
  return runtimes[type].runsAsUser && isOwnUser(runAs);
}

function line(agents: readonly AgentConfig[], start: string): string[] {
  if (agents.length === 0) return [];
  const names = agents.slice(0, maxNames).map(({ name }) => name);
  const more = agents.length > maxNames ? ` and ${agents.length - maxNames} more` : "";
  const effect = "runs reach hosts that [network].allow does not list; al doctor has the fix";
  return [`${start} ${names.join(", ")}${more}: ${effect}`];
}
