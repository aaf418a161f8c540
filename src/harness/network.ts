import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, JobNetwork } from "../contracts/job.ts";

const certificatesName = ".ca-certificates.pem";

/** What the run itself listens on: no proxy reaches that. */
const loopback = ["localhost", "127.0.0.1", "[::1]"];

/** The variables by which the agent's commands use the job's proxies and certificates. */
export async function networkVariables({
  network,
  workDir,
}: Pick<Job, "network" | "workDir">): Promise<Readonly<Record<string, string>>> {
  if (network === undefined) return {};
  const variables = withoutLoopback(network.variables);
  if (network.certificates === null) return variables;
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
