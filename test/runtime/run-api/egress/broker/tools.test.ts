import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { writeTrust } from "../../../../../src/runtime/harness/network.ts";
import { createIntercept } from "../../../../../src/runtime/run-api/egress/broker/intercept.ts";
import { createRunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";
import { listen } from "../../../../helpers/listen.ts";
import { makeRepository, type GitRepository } from "../../../../helpers/git-repository.ts";
import { makeCertificate, startGitHttpsServer } from "../../../../helpers/git-https-server.ts";
import type { GitHttpsServer } from "../../../../helpers/git-https-server.ts";

const run = promisify(execFile);
const gitHost = "git.allowed.test";
const apiHost = "api.allowed.test";
const secret = `ghp_${"R3al".repeat(9)}`;
const sentinel = `ghp_AlSentinel${"a".repeat(26)}`;
const hosts = [gitHost, apiHost];
const ownAuthorities = getCACertificates("default");
const authorityOf = (instanceId: string) => createRunAuthority("6b".repeat(32), instanceId);

/** What a program of a run reaches: a proxy that ends the TLS of all tunnels. */
describe("with a placeholder in place of a token", () => {
  let dir: string;
  let repository: GitRepository;
  let git: GitHttpsServer;
  let api: HttpsServer;
  let proxy: Server;
  let env: Record<string, string>;
  let seen: string[];
  const sockets = new Set<Socket>();
  const ended: Promise<void>[] = [];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "al-tools-"));
    const [runs, internet] = await Promise.all([authorityOf("dev-a"), authorityOf("internet")]);
    repository = makeRepository();
    git = await startGitHttpsServer(
      repository.root,
      dir,
      [secret],
      makeCertificate(dir, `DNS:${gitHost}`),
    );
    api = createHttpsServer(
      { SNICallback: (name, done) => done(null, internet.contextFor(name)) },
      (message, response) => {
        seen.push(`${message.method} ${message.url} ${message.headers.authorization}`);
        const { authorization: heard } = message.headers;
        response.end(JSON.stringify({ heard, username: heard }));
      },
    );
    setDefaultCACertificates([...ownAuthorities, git.certificate, internet.certificate(hosts)]);
    const ports: Record<string, number> = {
      [`${gitHost}:443`]: Number(git.host.split(":")[1]),
      [`${apiHost}:443`]: await listen(api),
    };
    const intercept = createIntercept((_instanceId, name) =>
      Promise.resolve(runs.contextFor(name)),
    );
    proxy = createServer();
    proxy.on("connect", ({ url = "" }, client: Socket, head) => {
      sockets.add(client);
      client.on("error", () => client.destroy());
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      client.unshift(head);
      const dial = async () => {
        const socket = connect(ports[url] ?? 1, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      };
      const host = url.replace(":443", "");
      const tunnel = { instanceId: "dev-a", host, port: 443, client, dial };
      const bindings = [{ sentinel, secret, hosts }];
      ended.push(intercept({ ...tunnel, bindings, onDenied: () => undefined }));
    });
    const address = `http://127.0.0.1:${await listen(proxy)}`;
    const authority = runs.certificate(hosts);
    env = {
      ...(await writeTrust({ authority, certificates: null, workDir: dir })),
      PATH: process.env.PATH ?? "",
      HOME: dir,
      HTTPS_PROXY: address,
      https_proxy: address,
      NODE_USE_ENV_PROXY: "1",
      GITHUB_TOKEN: sentinel,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
    };
  });
  beforeEach(() => void (seen = []));
  afterAll(async () => {
    setDefaultCACertificates(ownAuthorities);
    for (const socket of sockets) socket.destroy();
    await Promise.all(ended);
    proxy.close();
    api.closeAllConnections();
    api.close();
    await git.stop();
    repository.remove();
    await rm(dir, { recursive: true, force: true });
  });

  const shell = (command: string) => run("bash", ["-ec", command], { env, cwd: dir });

  test("git clones and pushes over HTTPS", { timeout: 60_000 }, async () => {
    const helper = `!f() { echo username=x-access-token; echo "password=$GITHUB_TOKEN"; }; f`;
    await shell(`git config --global credential.helper '${helper}'
git config --global user.email a@example.org
git config --global user.name A
git clone -q https://${gitHost}/repo.git work
cd work
head -c 6000000 /dev/urandom > large
git add large
git commit -qm "from a run"
git push -q origin HEAD:refs/heads/from-run`);
    expect(repository.subjects("from-run")).toContain("from a run");
    expect(git.logins).toContain(`x-access-token:${secret}`);
    await shell("! grep -rq R3al .");
  });

  test.each([
    ["curl", `curl -sS -H "Authorization: token $GITHUB_TOKEN" https://${apiHost}/user`],
    [
      "python3",
      `python3 -c 'import os, urllib.request as u; print(u.urlopen(u.Request("https://${apiHost}/user", headers={"Authorization": "token " + os.environ["GITHUB_TOKEN"]})).read().decode())'`,
    ],
    [
      "Node",
      `"${process.execPath}" -e 'fetch("https://${apiHost}/user", { headers: { authorization: "token " + process.env.GITHUB_TOKEN } }).then((a) => a.text()).then(console.log)'`,
    ],
  ])("%s calls an API", async (_tool, command) => {
    const { stdout } = await shell(command);
    expect(seen).toEqual([`GET /user token ${secret}`]);
    expect(JSON.parse(stdout)).toMatchObject({ heard: `token ${sentinel}` });
  });

  test("pip logs in to its index", { timeout: 60_000 }, async () => {
    const index = `https://x:$GITHUB_TOKEN@${apiHost}/simple`;
    // There is nothing in the index.
    await shell(`! python3 -m pip download -q --no-deps --index-url ${index} some-package`);
    const login = Buffer.from(`x:${secret}`).toString("base64");
    expect(seen).toContain(`GET /simple/some-package/ Basic ${login}`);
  });
});
