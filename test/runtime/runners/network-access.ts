import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";
import { exitOf, messagesOf } from "./contract.ts";
import { hostTunnels } from "../harness/model-host.ts";
import { makeCertificate, startGitHttpsServer } from "../../helpers/git-https-server.ts";
import { makeRepository } from "../../helpers/git-repository.ts";
import { perFile } from "../../helpers/per-test.ts";
import { startSshServer, whyNoSshServer } from "../../helpers/ssh-server.ts";
import type { RunJob } from "./git-access.ts";

const noSshServer = whyNoSshServer();

/** Runs each program that is there, and prints whether it succeeded and its output, in one line. */
const attempt = `try() {
  name=$1; shift
  command -v "$1" >/dev/null || { echo "$name: none"; return; }
  if out=$("$@" 2>&1); then end=done; else end=failed; fi
  printf '%s: %s %s\\n' "$name" "$end" "$(printf %s "$out" | tr '\\r\\n' '  ')"
}
export CURL_CA_BUNDLE=$NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO=$NODE_EXTRA_CA_CERTS SSL_CERT_FILE=$NODE_EXTRA_CA_CERTS
export PIP_CERT=$NODE_EXTRA_CA_CERTS PIP_DISABLE_PIP_VERSION_CHECK=1 npm_config_update_notifier=false`;

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
  const scriptFor = (top: string) => {
    const { ssh, repository } = fixture();
    const user = ssh === null ? "nobody" : new URL(ssh.url).username;
    const hello = `https://api.${top}/hello`;
    const python = `import urllib.request as u; print(u.urlopen("${hello}").read().decode())`;
    const got = `require("https").get("${hello}", (r) => r.pipe(process.stdout))`;
    const fetched = `fetch("${hello}").then((r) => r.text()).then(console.log)`;
    return [
      `try curl curl -sS -v ${hello}`,
      `try git git ls-remote https://x:t0ken@git.${top}/${basename(repository.path)}`,
      `try ssh git ls-remote ssh://${user}@ssh.${top}${repository.path}`,
      `try npm npm view demo version --registry=https://registry.${top}/ --fetch-retries=0`,
      `try pip pip download demo --no-deps --no-cache-dir --retries 0 -d out -i https://pypi.${top}/simple/`,
      `try python3 python3 -c '${python}'`,
      `try node ${node} -e '${got}'`,
      `try fetch ${node} -e '${fetched}'`,
    ].join("\n");
  };

  test(`a run reaches an allowed host by the programs of an agent (${runtime})`, async () => {
    const lines = await linesOf(scriptFor("allowed.test"));
    const hello = "done hello from allowed";
    expect(lines).toMatchObject({
      curl: expect.stringMatching(/^done .*hello from allowed/) as string,
      git: expect.stringMatching(/^done [0-9a-f]{40}/) as string,
      node: hello,
      fetch: hello,
    });
    if (noSshServer === null) expect(lines.ssh).toMatch(/^done .*[0-9a-f]{40}/);
    const optional = {
      npm: /^done 1\.2\.3/,
      pip: /^done .*Saved .*demo-1/,
      python3: /^done hello/,
    };
    for (const [name, expected] of Object.entries(optional)) {
      if (lines[name] !== "none" || runtime === "container") expect(lines[name]).toMatch(expected);
      else process.stderr.write(`skipped: there is no ${name} (${runtime})\n`);
    }
  }, 60_000);

  test(`a run reaches no other host, and its error names the host (${runtime})`, async () => {
    const { fetch, ...lines } = await linesOf(scriptFor("denied.test"));
    const denied = fixture()
      .attempts.filter((each) => each.denied === "not_allowed")
      .map(({ host }) => host);
    expect(denied).toEqual(
      expect.arrayContaining(["api.denied.test", "git.denied.test", "ssh.denied.test"]),
    );
    // The one that keeps the host to itself; the run's log has it.
    expect(fetch).toMatch(/^failed .*Proxy response \(403\)/);
    const naming = ["ssh", "node", "python3"];
    for (const [name, line] of Object.entries(lines)) {
      if (line === "none" && ["npm", "pip", "python3"].includes(name)) continue;
      expect(line).toMatch(/^failed .*denied\.test/);
      if (naming.includes(name)) expect(line).toContain("is not in [network].allow");
    }
  }, 60_000);

  test(`a run reaches nothing without its proxy, and shows no key of it (${runtime})`, async () => {
    const { port } = fixture();
    const bare =
      "env -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy -u HTTP_PROXY -u http_proxy";
    const failing = {
      direct: `curl -sS --noproxy '*' https://127.0.0.1:${port}/hello`,
      six: `curl -sS --noproxy '*' 'https://[::1]:${port}/hello'`,
      name: `${bare} curl -sS https://api.allowed.test/hello`,
      lookup: "getent hosts api.allowed.test",
      udp: `${node} -e 'const s = require("dgram").createSocket("udp4"); s.on("error", () => process.exit(1)); s.connect(53, "192.0.2.1", () => s.send("x", (e) => process.exit(e ? 1 : 0)))'`,
    };
    const shown = {
      interfaces: `sh -c 'ls /sys/class/net 2>/dev/null | tr "\\n" " "; cut -d: -f1 /proc/net/dev | tail -n +3'`,
      variables: `sh -c 'env | grep -i proxy | sort'`,
    };
    const tries = Object.entries({ ...failing, ...shown });
    const lines = await linesOf(tries.map(([name, line]) => `try ${name} ${line}`).join("\n"));
    for (const name of Object.keys(failing)) expect(lines[name]).toMatch(/^failed/);
    expect(lines.interfaces?.split(/ +/).at(-1)).toBe("lo");
    for (const name of ["HTTPS_PROXY", "https_proxy"]) {
      expect(lines.variables).toContain(`${name}=http://al:[redacted]@127.0.0.1:`);
    }
    expect(lines.variables).toContain("NODE_USE_ENV_PROXY=1");
    expect(JSON.stringify(lines)).not.toMatch(/al:[0-9a-f]{20}/);
  });
}

/** Hosts of a web page, packages and repositories that runs may reach. */
async function startServers() {
  const dir = mkdtempSync(join(tmpdir(), "al-allowed-"));
  const repository = makeRepository();
  const certificate = makeCertificate(dir, "DNS:*.allowed.test");
  const web = packageServer(certificate).listen(0, "127.0.0.1");
  await once(web, "listening");
  const git = await startGitHttpsServer(repository.root, dir, ["t0ken"], certificate);
  const ssh = noSshServer === null ? await startSshServer(mkdtempSync(join(dir, "ssh-"))) : null;
  const { port } = web.address() as AddressInfo;
  const attempts = hostTunnels({
    "api.allowed.test:443": port,
    "registry.allowed.test:443": port,
    "pypi.allowed.test:443": port,
    "git.allowed.test:443": Number(git.host.split(":")[1]),
    "ssh.allowed.test:22": ssh?.port ?? 1,
  });
  const stop = async () => {
    hostTunnels({});
    web.closeAllConnections();
    web.close();
    await Promise.all([git.stop(), ssh?.stop()]);
    repository.remove();
    rmSync(dir, { recursive: true, force: true });
  };
  return { repository, certificate, port, ssh, attempts, stop };
}

/** A Python package, as small as it can be: the metadata of demo 1 as a wheel. */
const wheel = Buffer.from(
  "UEsDBBQAAAAIAAAAIVBpSLZUJwAAACwAAAAZAAAAZGVtby0xLmRpc3QtaW5mby9NRVRBREFUQfNNLUlMSSxJ1A1LLSrOzM+zUjDSM+TyS8xNtVJISc3N5" +
    "4KLG3IBAFBLAwQUAAAACAAAACFQZkgK9UkAAABIAAAAFgAAAGRlbW8tMS5kaXN0LWluZm8vV0hFRUwLz0hNzdENSy0qzszPs1Iw1DPgck/NSy1KLMkvsl" +
    "Io4QrKzy/R9SzWDSgtSs3JTAIKFZWmcoUkplspFFQa6+bl56XqJuZVcgEAUEsDBBQAAAAIAAAAIVAAAAAAAgAAAAAAAAAXAAAAZGVtby0xLmRpc3QtaW5" +
    "mby9SRUNPUkQDAFBLAQIUAxQAAAAIAAAAIVBpSLZUJwAAACwAAAAZAAAAAAAAAAAAAACAAQAAAABkZW1vLTEuZGlzdC1pbmZvL01FVEFEQVRBUEsBAhQD" +
    "FAAAAAgAAAAhUGZICvVJAAAASAAAABYAAAAAAAAAAAAAAIABXgAAAGRlbW8tMS5kaXN0LWluZm8vV0hFRUxQSwECFAMUAAAACAAAACFQAAAAAAIAAAAAA" +
    "AAAFwAAAAAAAAAAAAAAgAHbAAAAZGVtby0xLmRpc3QtaW5mby9SRUNPUkRQSwUGAAAAAAMAAwDQAAAAEgEAAAAA",
  "base64",
);

/** A web page, a registry of npm and one of pip, behind TLS. */
function packageServer(certificate: { key: string; cert: string }): Server {
  return createServer(certificate, ({ url = "" }, response) => {
    if (url === "/hello") return response.end("hello from allowed");
    if (url === "/demo") {
      const version = { name: "demo", version: "1.2.3", dist: { tarball: "", shasum: "" } };
      const tags = { "dist-tags": { latest: "1.2.3" }, versions: { "1.2.3": version } };
      return response.end(JSON.stringify({ name: "demo", ...tags }));
    }
    if (url === "/simple/demo/") {
      response.setHeader("content-type", "text/html");
      return response.end('<a href="/demo-1-py3-none-any.whl">demo-1-py3-none-any.whl</a>');
    }
    if (url.endsWith(".whl")) return response.end(wheel);
    return response.writeHead(404).end();
  });
}
