import { readFile, stat } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { writeTrust } from "../../../src/runtime/harness/network.ts";
import { listen } from "../../helpers/listen.ts";
import { testCertificate } from "../../helpers/certificate.ts";
import { bridgeKey } from "../../../src/foundation/contracts/model-gateway.ts";
import { aJob, type JobOptions } from "./jobs.ts";
import { runOf } from "./run-entry.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const workDir = perTest(tempDir);

const variables = {
  HTTPS_PROXY: "http://user:passw0rd@proxy.test:3128",
  NO_PROXY: "intra.test",
};

/** The variables of a run's commands, and the key of its bridge. */
async function variablesOf(job: JobOptions = {}, env: Record<string, string> = {}) {
  const made = aJob(workDir(), {
    network: { variables, certificates: null, closed: true },
    hooks: { pre: ["env > env; env"], post: [] },
    ...job,
  });
  const run = await runOf(made, env);
  expect(run.exitCode).toBe(0);
  const key = bridgeKey(made.channel?.token ?? "");
  expect(JSON.stringify(run.messages)).not.toMatch(new RegExp(`${key}|passw0rd`));
  const lines = (await readFile(join(workDir(), "env"), "utf8")).split("\n");
  const pairs = lines.map((line) => line.split(/=(.*)/s, 2) as [string, string]);
  return { key, found: Object.fromEntries(pairs) as Readonly<Partial<Record<string, string>>> };
}

describe("the commands of a run with an open network", () => {
  test.each<[string, JobOptions, Record<string, string>]>([
    ["opened by the job", { network: { variables, certificates: null } }, { AL_NETWORK: "closed" }],
    ["opened because closing it failed", {}, { AL_NETWORK: "open" }],
  ])("use the scheduler's proxies, whose passwords are not logged: %s", async (_why, job, env) => {
    const { found } = await variablesOf(job, env);
    const { HTTPS_PROXY, NO_PROXY, ALL_PROXY, GIT_SSH_COMMAND } = found;
    expect({ HTTPS_PROXY, NO_PROXY, ALL_PROXY, GIT_SSH_COMMAND }).toEqual({
      HTTPS_PROXY: variables.HTTPS_PROXY,
      NO_PROXY: "intra.test,localhost,127.0.0.1,[::1],::1",
    });
  });
});

describe("the commands of a run with a closed network", () => {
  test("use the run's proxy instead of the scheduler's", async () => {
    const { key, found } = await variablesOf();
    const proxyUrl = found.HTTPS_PROXY;
    expect(proxyUrl).toMatch(new RegExp(`^http://al:${key}@127\\.0\\.0\\.1:\\d+$`));
    const names = ["HTTP_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    expect(names.map((name) => found[name])).toEqual(names.map(() => proxyUrl));
    expect(found.NODE_USE_ENV_PROXY).toBe("1");
    expect(found.GIT_SSH_COMMAND).toBe('ssh -o ProxyCommand="al-connect %h %p"');
    expect(JSON.stringify(found)).not.toContain("passw0rd");
  });

  test("reach the loopback interface without the run's proxy", async () => {
    const seen: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      seen.push(url);
      response.end();
    });
    const port = await listen(server, 0, "::");
    onTestFinished(() => void server.close());
    const node = `'${process.execPath}' -e`;
    const python = "/usr/bin/python3";
    const programs = [
      'curl -sg "$url"',
      `${node} 'fetch(process.env.url)'`,
      `${node} 'http.get(process.env.url)'`,
      ...(existsSync(python)
        ? [`${python} -c 'import os, urllib.request as u; u.urlopen(os.environ["url"])'`]
        : []),
    ];
    const paths = programs.flatMap((program, at) =>
      ["localhost", "127.0.0.1", "[::1]"].map((host) => [program, host, `/${at}/${host}`] as const),
    );
    const lines = paths.map(
      ([program, host, path]) => `export url='http://${host}:${port}${path}'; ${program}`,
    );
    await variablesOf({ hooks: { pre: ["env > env", lines.join("\n")], post: [] } });
    expect(seen).toEqual(paths.map(([, , path]) => path));
  });

  test("use the run's proxy in git's ssh command for each key", async () => {
    const sshKey = (instance: string, variable: string) => ({
      type: "git_ssh",
      instance,
      env: {},
      fields: { private_key: `k3y-of-${instance}` },
      fileEnv: { [variable]: "ssh -i '{private_key}'" },
    });
    const credentials = [
      sshKey("default", "GIT_SSH_COMMAND"),
      sshKey("work", "GIT_SSH_WORK_COMMAND"),
    ];
    const { found } = await variablesOf({ credentials });
    for (const command of [found.GIT_SSH_COMMAND, found.GIT_SSH_WORK_COMMAND]) {
      expect(command).toMatch(/^ssh -i '.*private_key' -o ProxyCommand="al-connect %h %p"$/);
    }
  });
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

describe("the variables for CA certificates in a run", () => {
  const trust = (own: string | null, certificates: string | null) =>
    writeTrust({ authority: own, certificates, workDir: workDir() });

  test("name a file with the CA of the run's network and the system's CAs", async () => {
    const variables = await trust(authority, null);
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

  test("give Node and Deno the CA of the run's network and the scheduler's CA", async () => {
    const { NODE_EXTRA_CA_CERTS: path = "", DENO_CERT } = await trust(
      authority,
      authority.trimEnd(),
    );
    expect(DENO_CERT).toBe(path);
    expect(certificatesIn(await readFile(path, "utf8"))).toHaveLength(2);
  });

  test("give only Node the scheduler's CA if the run's network has none", async () => {
    const { NODE_EXTRA_CA_CERTS: path = "", ...others } = await trust(null, authority);
    expect(await readFile(path, "utf8")).toBe(authority);
    expect([others, await trust(null, null)]).toEqual([{}, {}]);
  });
});
