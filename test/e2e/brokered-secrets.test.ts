import { once } from "node:events";
import { copyFile, mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Engine } from "../../src/runtime/runners/container/engine.ts";
import { removeAll, watchContainers } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { makeCertificate, startGitHttpsServer } from "../helpers/git-https-server.ts";
import type { GitHttpsServer } from "../helpers/git-https-server.ts";
import { makeRepository, type GitRepository } from "../helpers/git-repository.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { withOutside } from "../helpers/outside.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { halves } from "./looking-project.ts";

const { engine, missing } = await testEngine();
const noNetwork = whyNoNetwork();
if (noNetwork !== null)
  process.stderr.write(`skipped: brokered secrets of host users (${noNetwork})\n`);

/** Secrets of two bound credentials, and of one that is not, which proves that looking finds. */
const words = {
  git: "canary-git-token-52e1",
  api: "canary-api-token-81c7",
  own: "canary-own-word-3fd0",
};
const look = `node scripts/look.mjs ${Object.values(words).map(halves).join(" ")}`;

/** The agent's commands; their lines are in its log. */
const useAll = `set -e
echo "instance: $AL_INSTANCE"
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
git clone -q https://git.allowed.test/repo.git work
cd work
git commit -q --allow-empty -m "from a run"
git push -q origin HEAD:refs/heads/from-run
cd ..
ask() { curl -sS -o answer -w '%{http_code}' "$@" || true; echo " $(head -c 300 answer)"; }
echo "echo: $(ask -H "Authorization: Bearer $MY_API_WORD" https://api.allowed.test/user)"
echo "other: $(ask -H "Authorization: Bearer $MY_API_WORD" https://other.test/)"
echo "query: $(ask "https://api.allowed.test/?token=$MY_API_WORD")"
echo "body: $(ask -d "token=$MY_API_WORD" https://api.allowed.test/)"
echo "foreign: $(ask -H "Authorization: Bearer $GITHUB_TOKEN" https://api.allowed.test/)"
${look} -- ROOTS
`;
describe.skipIf(noNetwork !== null)("in a run of the scheduler's own user, a bound secret", () => {
  boundSecretTests({ runtime: 'type = "host-user"\nrun_as = "$USER"', roots: "", engine: null });
});

describe.skipIf(missing !== null)("in a container, a bound secret", () => {
  beforeAll(() => defaultTestImage(engine), engineSetupMs);
  boundSecretTests({ runtime: 'type = "container"', roots: "/", engine });
});

interface Surroundings {
  /** `[runtime]` of the agent. */
  readonly runtime: string;
  /** Where it looks beside its working directory. */
  readonly roots: string;
  /** Null for runs without a container. */
  readonly engine: Engine | null;
}

function boundSecretTests({ runtime, roots, engine }: Surroundings): void {
  let folder: string;
  let project: LiveProject;
  let repository: GitRepository;
  let git: GitHttpsServer;
  let api: Server;
  /** Of the scheduler. */
  let env: NodeJS.ProcessEnv;
  let seen: { readonly name: string; readonly url: string; readonly login: string }[];

  beforeEach(async () => {
    seen = [];
    project = await LiveProject.of({});
    folder = project.path("..");
    await mkdir(join(folder, "certificates"));
    const names = "DNS:git.allowed.test,DNS:api.allowed.test,DNS:other.test";
    const certificate = makeCertificate(join(folder, "certificates"), names);
    repository = makeRepository();
    git = await startGitHttpsServer(repository.root, folder, [words.git], certificate);
    api = createServer(certificate, (message, response) => {
      const { host = "", authorization = "" } = message.headers;
      seen.push({ name: host, url: message.url ?? "", login: authorization });
      response.end(authorization);
    }).listen(0, "127.0.0.1");
    await once(api, "listening");
    const outside = withOutside({
      addresses: {
        "git.allowed.test": "203.0.113.20",
        "api.allowed.test": "203.0.113.10",
        "other.test": "203.0.113.10",
      },
      ports: {
        "203.0.113.20": Number(git.host.split(":")[1]),
        "203.0.113.10": (api.address() as AddressInfo).port,
      },
    });
    env = { ...outside, NODE_EXTRA_CA_CERTS: join(folder, "certificates/cert.pem") };
  });
  afterEach(async () => {
    await project.remove();
    if (engine !== null) await removeAll(engine, project.dir);
    api.closeAllConnections();
    api.close();
    await git.stop();
    repository.remove();
  });

  const put = (path: string, text: string) => project.write(`../${path}`, text);

  async function prepare(): Promise<void> {
    await put(
      "project/config.toml",
      `[models.scripted]
provider = "scripted"
script = "done.script.toml"

[network.credentials]
my_api = ["api.allowed.test"]

[local]
base = "${testBase}"
`,
    );
    await put("project/done.script.toml", '[[turns]]\ntext = "Done."\n');
    await put(
      "project/agents/looker/config.toml",
      `models = ["scripted"]
credentials = ["github_token", "my_api", "my_own"]
schedule = "0 0 29 2 *"

[runtime]
${runtime}

[network]
allow = ["api.allowed.test", "other.test"]

[hooks]
pre = ["bash scripts/use.sh"]
`,
    );
    await put(
      "project/agents/looker/SKILL.md",
      "---\nname: looker\ndescription: Looks.\n---\nAsk.\n",
    );
    await put("project/agents/looker/scripts/use.sh", useAll.replace("ROOTS", roots));
    await copyFile(
      join(import.meta.dirname, "look.mjs"),
      join(project.dir, "agents/looker/scripts/look.mjs"),
    );
    await put("home/credentials/github_token/default/token", words.git);
    await put("home/credentials/github_token/default/host", "git.allowed.test");
    await put("home/credentials/my_api/default/word", words.api);
    await put("home/credentials/my_own/default/word", words.own);
  }

  async function runToEnd() {
    const containers = engine && watchContainers(engine, project.dir);
    const ended = await project.al("run", "looker");
    await containers?.stop();
    return { ...ended, inspected: [...(containers?.seen.values() ?? [])] };
  }

  /** What the scheduler shows and keeps of the run that wrote this. */
  async function keptOf(stdout: string): Promise<readonly string[]> {
    const [, instance = ""] = /instance: (looker-\w+)/.exec(stdout) ?? [];
    const shown = await project.al("show", instance);
    expect(shown.stdout).toContain("api.allowed.test");
    const logs = await project.al("logs", "looker", "-n", "1000");
    expect(logs.stdout).toContain("echo: 200 Bearer ");
    return [shown.stdout, logs.stdout, ...(await filesBelow(project.dir)).values()];
  }

  test(
    "in a container, a bound secret is in no byte that the run can read, only in its requests",
    { timeout: 120_000 },
    async () => {
      await prepare();
      await project.start({ env });
      const { code, stdout, stderr, inspected } = await runToEnd();

      expect({ code, stderr }).toMatchObject({ code: 0 });
      const [, json = "{}"] = /LOOKED (\{.*\})/.exec(stdout.replaceAll('\\"', '"')) ?? [];
      const { found } = JSON.parse(json) as { found: Record<string, string[]> };
      expect(found).toMatchObject({ [halves(words.git)]: [], [halves(words.api)]: [] });
      expect(found[halves(words.own)]?.length).toBeGreaterThan(1);
      expect(repository.subjects("from-run")).toContain("from a run");
      expect(git.logins).toContain(`x-access-token:${words.git}`);
      const [api, other, ...more] = seen;
      expect(api).toEqual({ name: "api.allowed.test", url: "/user", login: `Bearer ${words.api}` });
      expect(other?.name).toBe("other.test");
      expect(other?.login).toMatch(/^Bearer AlSentinel[a-z2-7]{26}$/);
      expect(more).toEqual([]);
      for (const what of ["query", "body", "foreign"]) {
        expect(stdout).toMatch(new RegExp(`${what}: 403 .* holds a sentinel`));
      }
      expect(stdout).toMatch(/echo: 200 Bearer /);
      expect(inspected).toHaveLength(engine === null ? 0 : 1);
      const texts = [stdout, project.scheduler.output(), ...inspected, ...(await keptOf(stdout))];
      expect(texts.filter((text) => text.includes("canary"))).toEqual([]);
    },
  );
}
