import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";
import { exitOf, messagesOf } from "./contract.ts";
import { hostTunnels } from "../harness/model-host.ts";
import { makeCertificate } from "../../helpers/git-https-server.ts";
import { endServer, listen } from "../../helpers/listen.ts";
import { makeRepository } from "../../helpers/git-repository.ts";
import { perFile } from "../../helpers/per-test.ts";
import { startSshServer, whyNoSshServer } from "../../helpers/ssh-server.ts";
import type { RunJob } from "./git-access.ts";

const noSshServer = whyNoSshServer();

/** Runs a program, and prints whether it succeeded and its output, in one line. */
const attempt = `try() {
  name=$1; shift
  if out=$("$@" 2>&1); then end=done; else end=failed; fi
  printf '%s: %s %s\\n' "$name" "$end" "$(printf %s "$out" | tr '\\r\\n' '  ')"
}
export CURL_CA_BUNDLE=$NODE_EXTRA_CA_CERTS`;

/** The hosts that programs of a closed run reach, in every runtime; `node` is the path of one that is there. */
export function networkAccessTests(runtime: string, node: string, run: RunJob): void {
  const fixture = perFile(startServers, (servers) => servers.stop());

  const linesOf = async (script: string): Promise<Readonly<Record<string, string>>> => {
    const { ssh, certificate } = fixture();
    const key = ssh?.knownHost.replace(/^\S+ /, "") ?? "";
    const fields = {
      private_key: ssh?.privateKey ?? "none",
      known_hosts: `ssh.allowed.test ${key}`,
    };
    const events = await run({
      network: { variables: {}, certificates: certificate.cert, closed: true },
      credentials: stageCredentials([{ type: "git_ssh", instance: "default", fields }]),
      hooks: { pre: [`${attempt}\n${script}`], post: [] },
    });
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    return Object.fromEntries(
      messagesOf(events).flatMap((line) => {
        const [, name, text] = /^([\w-]+): (.*)$/.exec(line) ?? [];
        return name === undefined || text === undefined ? [] : [[name, text]];
      }),
    );
  };
  /** Programs by each of a proxy's variables; those of other languages are proven with a broker's. */
  const scriptFor = (top: string) => {
    const { ssh, path } = fixture();
    const user = ssh === null ? "nobody" : new URL(ssh.url).username;
    const hello = `https://api.${top}/hello`;
    return [
      `try curl curl -sS -v ${hello}`,
      `try ssh git ls-remote ssh://${user}@ssh.${top}${path}`,
      `try node ${node} -e 'require("https").get("${hello}", (r) => r.pipe(process.stdout))'`,
      "try variables sh -c 'env | grep -i proxy | sort'",
    ].join("\n");
  };

  test(`a run reaches an allowed host, and its output shows no key of the proxy (${runtime})`, async () => {
    const lines = await linesOf(scriptFor("allowed.test"));
    expect(lines.curl).toMatch(/^done .*hello from allowed/);
    expect(lines.node).toBe("done hello from allowed");
    if (noSshServer === null) expect(lines.ssh).toMatch(/^done .*[0-9a-f]{40}/);
    for (const name of ["HTTPS_PROXY", "https_proxy"]) {
      expect(lines.variables).toContain(`${name}=http://al:[redacted]@127.0.0.1:`);
    }
    expect(lines.variables).toContain("NODE_USE_ENV_PROXY=1");
    expect(lines.variables).not.toMatch(/al:[0-9a-f]{20}/);
  }, 60_000);

  test(`a run's error names a host that it may not reach (${runtime})`, async () => {
    const lines = await linesOf(scriptFor("denied.test"));
    const denied = fixture().attempts.filter((each) => each.denied === "not_allowed");
    expect(new Set(denied.map(({ host }) => host))).toEqual(
      new Set(["api.denied.test", "ssh.denied.test"]),
    );
    expect(lines.curl).toMatch(/^failed .*denied\.test/);
    for (const name of ["ssh", "node"]) {
      expect(lines[name]).toMatch(/^failed .*denied\.test.*is not in \[network\]\.allow/);
    }
  }, 60_000);
}

/** Hosts of a web page and a repository that runs may reach. */
async function startServers() {
  const dir = mkdtempSync(join(tmpdir(), "al-allowed-"));
  const { path, remove } = makeRepository();
  const certificate = makeCertificate(dir, "DNS:*.allowed.test");
  const web = createServer(certificate, (_request, response) => {
    response.end("hello from allowed");
  });
  const port = await listen(web);
  const ssh = noSshServer === null ? await startSshServer(mkdtempSync(join(dir, "ssh-"))) : null;
  const tunnels = { "api.allowed.test:443": port, "ssh.allowed.test:22": ssh?.port ?? 1 };
  const attempts = hostTunnels(tunnels);
  const stop = async () => {
    hostTunnels({});
    await endServer(web);
    await ssh?.stop();
    remove();
    rmSync(dir, { recursive: true, force: true });
  };
  return { path, certificate, ssh, attempts, stop };
}
