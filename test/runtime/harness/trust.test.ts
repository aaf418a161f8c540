import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { writeTrust } from "../../../src/runtime/harness/trust.ts";
import { testCertificate } from "../../helpers/certificate.ts";

const authority = testCertificate.cert;
const bundleVariables = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "PIP_CERT",
  "AWS_CA_BUNDLE",
  "CARGO_HTTP_CAINFO",
];

let workDir: string;
beforeEach(async () => {
  workDir = await mkdtemp(join(tmpdir(), "al-trust-"));
  onTestFinished(() => rm(workDir, { recursive: true, force: true }));
});

function certificatesIn(pem: string): X509Certificate[] {
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return each.map((one) => new X509Certificate(one));
}

test("programs that know no other authorities get the run's beside the system's", async () => {
  const variables = await writeTrust({ authority, certificates: null, workDir });
  const paths = new Set(bundleVariables.map((name) => variables[name] ?? ""));
  expect(paths.size).toBe(1);
  const [path = ""] = paths;
  const all = certificatesIn(await readFile(path, "utf8"));
  expect(all[0]?.subject).toBe(new X509Certificate(authority).subject);
  const system = "/etc/ssl/certs/ca-certificates.crt";
  if (existsSync(system)) {
    expect(all.length).toBe(certificatesIn(await readFile(system, "utf8")).length + 1);
  }
  expect(all.length).toBeGreaterThan(50);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("programs that have authorities of their own get the run's and the scheduler's", async () => {
  const certificates = testCertificate.cert.trimEnd();
  const variables = await writeTrust({ authority, certificates, workDir });
  const { NODE_EXTRA_CA_CERTS: path = "", DENO_CERT } = variables;
  expect(DENO_CERT).toBe(path);
  expect(certificatesIn(await readFile(path, "utf8"))).toHaveLength(2);
});

test("without an authority of the run, only Node gets what it does not know", async () => {
  const certificates = testCertificate.cert;
  const variables = await writeTrust({ authority: null, certificates, workDir });
  expect(Object.keys(variables)).toEqual(["NODE_EXTRA_CA_CERTS"]);
  expect(await writeTrust({ authority: null, certificates: null, workDir })).toEqual({});
});
