import { writeFile } from "node:fs/promises";
import * as http from "node:http";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Job, JobNetwork } from "../contracts/job.ts";

const certificatesName = ".ca-certificates.pem";

/** What the run itself listens on: no proxy reaches that. */
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Has this process and the agent's commands use the job's proxies and certificates, and resolves to the variables for
 * the commands. `warn` gets what this version of Node can't do.
 */
export async function useNetwork(
  { network, workDir }: Pick<Job, "network" | "workDir">,
  warn: (message: string) => void,
): Promise<Readonly<Record<string, string>>> {
  if (network === undefined) return {};
  const variables = withoutLoopback(network.variables);
  useProxies(variables, warn);
  if (network.certificates === null) return variables;
  setDefaultCACertificates([...getCACertificates("default"), network.certificates]);
  const path = join(workDir, certificatesName);
  await writeFile(path, network.certificates, { mode: 0o600 });
  return { ...variables, NODE_EXTRA_CA_CERTS: path };
}

/** Some programs read the upper case names and some the lower case ones: both get the same exceptions. */
function withoutLoopback(variables: JobNetwork["variables"]): JobNetwork["variables"] {
  if (Object.keys(variables).length === 0) return variables;
  const given = variables.NO_PROXY ?? variables.no_proxy ?? "";
  const exceptions = [...given.split(",").filter((host) => host.trim() !== ""), ...loopback];
  const noProxy = exceptions.join(",");
  return { ...variables, NO_PROXY: noProxy, no_proxy: noProxy };
}

function useProxies(variables: JobNetwork["variables"], warn: (message: string) => void): void {
  if (Object.keys(variables).length === 0) return;
  // Node 24.14 and later; an image of the user's own may have an older one.
  const set = Reflect.get(http, "setGlobalProxyFromEnv") as
    typeof http.setGlobalProxyFromEnv | undefined;
  if (set !== undefined) return void set({ ...variables });
  warn(
    `Node ${process.versions.node} of this run can't send model requests through a proxy; use Node 24.14 or later in the image`,
  );
}
