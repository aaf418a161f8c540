import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

export interface TrustOptions {
  /** Certificate of the run's own authority; null when nothing is brokered. */
  readonly authority: string | null;
  /** Certificates that the scheduler trusts beside Node's own; null for none. */
  readonly certificates: string | null;
  readonly workDir: string;
}

/** Beside the authorities that a program knows. */
const extraName = ".ca-certificates.pem";
const extraVariables = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];
/** In their place. */
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

/** Where systems have the authorities that they trust: Debian and Alpine, Fedora, openSUSE, macOS. */
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

/** A small image may have none; then these are Node's. */
function systemAuthorities(): Promise<string> {
  const path = systemBundles.find((candidate) => existsSync(candidate));
  return path === undefined ? Promise.resolve(rootCertificates.join("\n")) : readFile(path, "utf8");
}
