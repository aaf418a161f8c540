import { readFile, stat } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { writeTrust } from "../../../src/runtime/harness/network.ts";
import { testCertificate } from "../../helpers/certificate.ts";
import { forwardProxy, type ForwardProxy } from "../../helpers/forward-proxy.ts";
import { bridgeKey } from "../../../src/foundation/contracts/model-gateway.ts";
import { fakeProvider, saying, type FakeProvider } from "./fake-provider.ts";
import { aJob, aScripted, type JobOptions } from "./jobs.ts";
import { logsOf, runOf } from "./run-entry.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const workDir = perTest(tempDir);

describe("a run whose scheduler reaches the network through a proxy", () => {
  let provider: FakeProvider;
  let proxy: ForwardProxy;
  beforeEach(async () => {
    provider = await fakeProvider(saying("Done."));
    proxy = await forwardProxy(Number(new URL(provider.baseUrl).port));
    onTestFinished(() => Promise.all([provider.close(), proxy.close()]).then(() => undefined));
  });

  const variables = () => ({
    HTTPS_PROXY: proxy.url,
    HTTP_PROXY: proxy.url,
    NO_PROXY: "intra.test",
  });
  test("calls its models without it, as the scheduler uses it", async () => {
    const network = { variables: variables(), certificates: null };
    const run = await runOf(aJob(workDir(), { models: [aScripted([{ text: "Here." }])], network }));
    expect(logsOf(run, "said").map(({ msg }) => msg)).toEqual(["Here."]);
    expect(proxy.seen).toEqual([]);
  });

  test("passes the variables on to its commands, and shows no password", async () => {
    const hook = 'env > env; cat "$NODE_EXTRA_CA_CERTS" > ca; env';
    const run = await runOf(
      aJob(workDir(), {
        network: { variables: variables(), certificates: testCertificate.cert },
        hooks: { pre: [hook], post: [] },
      }),
    );
    expect(run.exitCode).toBe(0);
    const lines = (await readFile(join(workDir(), "env"), "utf8")).split("\n");
    expect(lines).toContain(`HTTPS_PROXY=${proxy.url}`);
    expect(lines).toContain("NO_PROXY=intra.test,localhost,127.0.0.1,[::1]");
    expect(await readFile(join(workDir(), "ca"), "utf8")).toBe(testCertificate.cert);
    expect(JSON.stringify(run.messages)).toContain("user:[redacted]@");
  });

  test("prefers the variables that a credential of its agent sets", async () => {
    const own = { type: "t", instance: "default", fields: {}, env: { HTTPS_PROXY: "http://own" } };
    const hooks = { pre: ['test "$HTTPS_PROXY" = http://own'], post: [] };
    const network = { variables: variables(), certificates: null };
    const run = await runOf(aJob(workDir(), { network, hooks, credentials: [own] }));
    expect(run.exitCode).toBe(0);
  });
});

const variables = { HTTPS_PROXY: "http://user:passw0rd@proxy.test:3128", NO_PROXY: "intra.test" };
const variablesOf = async (job: JobOptions, env: Record<string, string> = {}) => {
  const made = aJob(workDir(), {
    network: { variables, certificates: null, closed: true },
    hooks: { pre: ["env > env; env"], post: [] },
    ...job,
  });
  const run = await runOf(made, env);
  expect(run.exitCode).toBe(0);
  const key = bridgeKey(made.channel?.token ?? "");
  expect(JSON.stringify(run.messages)).not.toContain(key);
  const lines = (await readFile(join(workDir(), "env"), "utf8")).split("\n");
  const pairs = lines.map((line) => line.split(/=(.*)/s, 2) as [string, string]);
  return { key, found: Object.fromEntries(pairs) as Readonly<Partial<Record<string, string>>> };
};

test("a run whose network is closed has the bridge as the proxy of its commands, in place of the scheduler's", async () => {
  const { key, found } = await variablesOf({});
  const proxyUrl = found.HTTPS_PROXY;
  expect(proxyUrl).toMatch(new RegExp(`^http://al:${key}@127\\.0\\.0\\.1:\\d+$`));
  const names = ["HTTP_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  expect(names.map((name) => found[name])).toEqual(names.map(() => proxyUrl));
  const none = "localhost,127.0.0.1,[::1]";
  expect([found.NO_PROXY, found.no_proxy, found.NODE_USE_ENV_PROXY]).toEqual([none, none, "1"]);
  expect(found.GIT_SSH_COMMAND).toBe('ssh -o ProxyCommand="al-connect %h %p"');
  expect(JSON.stringify(found)).not.toContain("passw0rd");
});

test("a run whose network is closed has the bridge in git's ssh for each of its keys", async () => {
  const { found } = await variablesOf({
    credentials: [
      {
        type: "git_ssh",
        instance: "default",
        env: {},
        fields: { private_key: "k3y-of-default" },
        fileEnv: { GIT_SSH_COMMAND: "ssh -i '{private_key}'" },
      },
      {
        type: "git_ssh",
        instance: "work",
        env: {},
        fields: { private_key: "k3y-of-work" },
        fileEnv: { GIT_SSH_WORK_COMMAND: "ssh -v -i '{private_key}'" },
      },
    ],
  });
  const end = ` -o ProxyCommand="al-connect %h %p"`;
  expect(found.GIT_SSH_COMMAND).toMatch(/^ssh -i '.*private_key' -o ProxyCommand/);
  expect(found.GIT_SSH_WORK_COMMAND?.endsWith(end)).toBe(true);
});

test("a run whose network is closed has the scheduler's proxies if its start could not close it", async () => {
  const { found } = await variablesOf({}, { AL_NETWORK: "open" });
  expect(found.HTTPS_PROXY).toBe(variables.HTTPS_PROXY);
  expect(found.ALL_PROXY).toBeUndefined();
  expect(found.GIT_SSH_COMMAND).toBeUndefined();
});

test("a run whose network is closed is open, whatever its start found, if its job does not close it", async () => {
  const open = { network: { variables, certificates: null } };
  const { found } = await variablesOf(open, { AL_NETWORK: "closed" });
  expect(found.HTTPS_PROXY).toBe(variables.HTTPS_PROXY);
});

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

function certificatesIn(pem: string): X509Certificate[] {
  const each = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return each.map((one) => new X509Certificate(one));
}

test("programs without authorities of their own get the run's beside the system's", async () => {
  const variables = await writeTrust({ authority, certificates: null, workDir: workDir() });
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

test("programs with authorities of their own get the run's and the scheduler's", async () => {
  const certificates = testCertificate.cert.trimEnd();
  const variables = await writeTrust({ authority, certificates, workDir: workDir() });
  const { NODE_EXTRA_CA_CERTS: path = "", DENO_CERT } = variables;
  expect(DENO_CERT).toBe(path);
  expect(certificatesIn(await readFile(path, "utf8"))).toHaveLength(2);
});

test("without an authority of the run, only Node gets the scheduler's certificates", async () => {
  const certificates = testCertificate.cert;
  const variables = await writeTrust({ authority: null, certificates, workDir: workDir() });
  expect(Object.keys(variables)).toEqual(["NODE_EXTRA_CA_CERTS"]);
  expect(await writeTrust({ authority: null, certificates: null, workDir: workDir() })).toEqual({});
});
