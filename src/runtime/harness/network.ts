import { networkVariable } from "../wire/supervisor-order.ts";
import type { Job, JobNetwork } from "../../foundation/contracts/job.ts";
import { loopbackNames } from "../../foundation/contracts/loopback.ts";
import { connectCommandName } from "../wire/requests/table.ts";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

/** Proxy variables that programs read; curl reads `http_proxy` in lower case only. */
const proxyNames = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] as const;

type Variables = Readonly<Record<string, string>>;

/** Whether the run's network is closed except for the bridge: by its job, unless its start found that impossible. */
export function isClosed({ network }: Job, env: NodeJS.ProcessEnv): boolean {
  return network?.closed === true && env[networkVariable] !== "open";
}

/**
 * Proxy and certificate variables for the agent's commands. The proxy is the bridge if `proxyUrl` is its address;
 * otherwise the job's proxies apply.
 */
export async function networkVariables(
  { network, workDir }: Job,
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
  // Node's own fetch and http ignore proxies without it.
  return withoutLoopback({ ...proxies, NODE_USE_ENV_PROXY: "1" });
}

/**
 * Adds loopback, where the run itself listens and which the proxy can't reach, to NO_PROXY in upper and lower case,
 * because programs read either. Python wants its IPv6 address in brackets; curl and Node's http want it without.
 */
function withoutLoopback(variables: JobNetwork["variables"]): JobNetwork["variables"] {
  if (Object.keys(variables).length === 0) return variables;
  const given = variables.NO_PROXY ?? variables.no_proxy ?? "";
  const hosts = given.split(",").filter((host) => host.trim() !== "");
  const noProxy = [...hosts, ...loopbackNames, "::1"].join(",");
  return { ...variables, NO_PROXY: noProxy, no_proxy: noProxy };
}

const proxyCommand = `-o ProxyCommand="${connectCommandName} %h %p"`;

/** Routes git's ssh through the bridge: the command of each `git_ssh` credential, and the default one. */
export function withSshThroughBridge(variables: Variables): Variables {
  const { GIT_SSH_COMMAND = "ssh" } = variables;
  const commands = Object.entries({ ...variables, GIT_SSH_COMMAND })
    .filter(([name]) => /^GIT_SSH_(\w+_)?COMMAND$/.test(name))
    .map(([name, command]) => [name, `${command} ${proxyCommand}`] as const);
  return { ...variables, ...Object.fromEntries(commands) };
}

interface TrustOptions {
  /** Certificate of the run's own authority; null if no credential is brokered. */
  readonly authority: string | null;
  /** Additional certificates that the scheduler trusts; null without any. */
  readonly certificates: string | null;
  readonly workDir: string;
}

/** File with additional authorities, and variables that add it to a program's own authorities. */
const extraName = ".ca-certificates.pem";
const extraVariables = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];
/** File with all authorities, and variables that replace a program's own authorities by it. */
const bundleName = ".ca-bundle.pem";
const bundleVariables = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "PIP_CERT",
  "AWS_CA_BUNDLE",
  "CARGO_HTTP_CAINFO",
];

/** Bundles of trusted authorities on Debian and Alpine, Fedora, openSUSE, macOS. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Writes the certificates for the agent's commands to trust; resolves to the variables by which they find them. */
export async function writeTrust({
  authority,
  certificates,
  workDir,
}: TrustOptions): Promise<Readonly<Record<string, string>>> {
  const extra = [authority, certificates].filter((text) => text !== null);
  if (extra.length === 0) return {};
  const extraPath = await put(join(workDir, extraName), extra);
  if (authority === null) return { NODE_EXTRA_CA_CERTS: extraPath };
  const bundlePath = await put(join(workDir, bundleName), [...extra, await systemAuthorities()]);
  return Object.fromEntries([
    ...extraVariables.map((name) => [name, extraPath]),
    ...bundleVariables.map((name) => [name, bundlePath]),
  ]) as Record<string, string>;
}

async function put(path: string, certificates: readonly string[]): Promise<string> {
  await writeFile(path, certificates.map((text) => `${text.trimEnd()}\n`).join(""), {
    mode: 0o600,
  });
  return path;
}

/** The system's authorities, or Node's if the image has no bundle. */
function systemAuthorities(): Promise<string> {
  const path = systemBundles.find((candidate) => existsSync(candidate));
  return path === undefined ? Promise.resolve(rootCertificates.join("\n")) : readFile(path, "utf8");
}
