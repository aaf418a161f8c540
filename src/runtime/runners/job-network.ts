import { readFile } from "node:fs/promises";
import type { RuntimeConfig } from "../../../streams/agent-config.ts";
import type { RunNetwork } from "../../../streams/run-network.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import type { JobNetwork } from "../../foundation/contracts/job.ts";
import { messageOf } from "../../foundation/errors.ts";

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
 * trusts beside Node's own. Undefined where it has neither. `warn` gets why certificates can't be read: runs start
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
 * What a run gets of it that has this of the network. A run whose network is closed for sure has no use for the proxies,
 * whose addresses may hold passwords.
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

/** Jobs live as long as their runs: a thousand of them hold the certificates once. */
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
