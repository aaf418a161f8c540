import { once } from "node:events";
import { copyFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Engine } from "../../src/runtime/runners/container/engine.ts";
import { removeAll, watchContainers } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { makeCertificate, startGitHttpsServer } from "../helpers/git-https-server.ts";
import { makeRepository } from "../helpers/git-repository.ts";
import { startGithub } from "../helpers/github-server.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";
import { withOutside } from "../helpers/outside.ts";
import { scriptedAgents } from "../helpers/scripted-agents.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";

const { engine, missing } = await testEngine();
const noNetwork = whyNoNetwork();
noteSkipped("brokered secrets of host users", noNetwork);

/** Secrets that no run may find: of two bound credentials, of a model, and in the scheduler's own environment. */
const hidden = {
  git: "canary-git-token-52e1",
  api: "canary-api-token-81c7",
  model: "canary-model-key-41d0",
  variable: "canary-variable-c853",
};
/** The secret of a credential that is not bound, which proves that looking finds. */
const own = "canary-own-word-3fd0";

/** A form in which no secret is looked for in what a run writes; look.mjs reads it. */
const halves = (word: string): string =>
  `${word.replaceAll(/(.).?/g, "$1")}_${word.replaceAll(/.(.?)/g, "$1")}`;

/** The agent's commands; their lines are in its log. */
const useAll = (words: readonly string[], roots: string) => `set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
git clone -q https://git.allowed.test/repo.git work
cd work
git commit -q --allow-empty -m "from a run"
git push -q origin HEAD:refs/heads/from-run
cd ..
ask() { curl -sS -o answer -w '%{http_code}' "$@" || true; echo " $(head -c 300 answer)"; }
echo "echo: $(ask -H "Authorization: Bearer $MY_API_WORD" https://api.allowed.test/user)"
echo "other: $(ask -H "Authorization: Bearer $MY_API_WORD" https://other.test/)"
echo "body: $(ask -d "token=$MY_API_WORD" https://api.allowed.test/)"
node scripts/look.mjs ${words.map(halves).join(" ")} -- ${roots}
`;

type Github = Awaited<ReturnType<typeof startGithub>>;

/** With `github`, git logs in by its app. */
async function brokeredProject(
  runtime: string,
  roots: string,
  github: Github | null,
): Promise<LiveProject> {
  const scope = '[githubApp]\npermissions = { contents = "write" }\nrepos = ["acme/website"]\n';
  const config = `${github === null ? "" : scope}[runtime]
${runtime}
[network]
allow = ["api.allowed.test", "other.test"]
[hooks]
pre = ["bash scripts/use.sh"]
`;
  const credentials = [github === null ? "github_token" : "github_app", "my_api", "my_own"];
  const files = {
    "scripts/use.sh": useAll([...Object.values(hidden), ...keyOf(github), own], roots),
  };
  const project = await scriptedAgents(
    { looker: { credentials, config, files } },
    `[models.claude]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-5"
[network.credentials]\nmy_api = ["api.allowed.test"]\n[local]\nbase = "${testBase}"\n`,
  );
  await project.edit("agents/looker/config.toml", '["looker"]', '["looker", "claude"]');
  if (github === null)
    await project.store("github_token", { token: hidden.git, host: "git.allowed.test" });
  else
    await project.store("github_app", {
      app_id: github.id,
      private_key: github.pem,
      api_url: "https://git.allowed.test/api/v3",
    });
  await project.store("my_api", { word: hidden.api });
  await project.store("my_own", { word: own });
  await project.store("anthropic_key", { key: hidden.model });
  const program = join(import.meta.dirname, "look.mjs");
  await copyFile(program, project.path("agents/looker/scripts/look.mjs"));
  return project;
}

/** A line of the app's private key. */
const keyOf = (github: Github | null): readonly string[] =>
  github === null ? [] : [github.pem.split("\n")[3] ?? ""];

/** A git server and an API that answers with its login, and the environment of a scheduler that finds them. */
async function outsideServers(github: Github | null) {
  const [folder, seen] = [tempDir(), [] as object[]];
  const names = "DNS:git.allowed.test,DNS:api.allowed.test,DNS:other.test";
  const certificate = makeCertificate(folder, names);
  const repository = makeRepository();
  const git = await startGitHttpsServer(
    repository.root,
    folder,
    github?.valid ?? [hidden.git],
    certificate,
  );
  const api = createServer(certificate, ({ headers, url }, response) => {
    const { host: name, authorization: login } = headers;
    seen.push({ name, url, login });
    response.end(login);
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
  onTestFinished(async () => {
    api.close().closeAllConnections();
    await git.stop();
    repository.remove();
  });
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
    ...(github && { origins: { "https://git.allowed.test": github.url } }),
  });
  const NODE_EXTRA_CA_CERTS = join(folder, "cert.pem");
  const env = { ...outside, NODE_EXTRA_CA_CERTS, ANTHROPIC_API_KEY: hidden.variable };
  return { repository, git, seen, env };
}

/** Where the run found each word. */
function lookedFor(stdout: string): Record<string, string[]> {
  const [, json = "{}"] = /LOOKED (\{.*\})/.exec(stdout.replaceAll('\\"', '"')) ?? [];
  return (JSON.parse(json) as { found: Record<string, string[]> }).found;
}

/** The only login of git. */
function loginOf(github: Github | null): string {
  const [token, ...others] = github === null ? [hidden.git] : [...github.minted.keys()];
  expect(others).toEqual([]);
  return `x-access-token:${token}`;
}

async function expectBrokered(
  runtime: string,
  roots: string,
  ofRun: Engine | null,
  github: Github | null,
): Promise<void> {
  const project = await brokeredProject(runtime, roots, github);
  if (ofRun !== null) onTestFinished(() => removeAll(ofRun, project.dir));
  const { repository, git, seen, env } = await outsideServers(github);
  await project.start({ env });
  const containers = ofRun && watchContainers(ofRun, project.dir);
  const stdout = await project.print("run", "looker");
  await containers?.stop();

  const found = lookedFor(stdout);
  const unseen = [...Object.values(hidden), ...keyOf(github)];
  expect(unseen.flatMap((word) => found[halves(word)])).toEqual([]);
  expect(found[halves(own)]?.length).toBeGreaterThan(1);
  expect(repository.subjects("from-run")).toContain("from a run");
  expect([...new Set(git.logins)]).toEqual(["", loginOf(github)]);
  const sentinel = expect.stringMatching(/^Bearer AlSentinel[a-z2-7]{26}$/) as string;
  expect(seen).toEqual([
    { name: "api.allowed.test", url: "/user", login: `Bearer ${hidden.api}` },
    { name: "other.test", url: "/", login: sentinel },
  ]);
  expect(stdout).toMatch(/body: 403 .* contains a sentinel/);
  const inspected = [...(containers?.seen.values() ?? [])];
  expect(inspected).toHaveLength(ofRun === null ? 0 : 1);
  const shown = await project.print("show", (await project.latest("looker"))?.instanceId ?? "");
  expect(shown).toContain("api.allowed.test");
  const logs = await project.print("logs", "looker", "-n", "1000");
  expect(logs).toContain("echo: 200 Bearer ");
  const files = (await filesBelow(project.dir)).values();
  const texts = [stdout, project.scheduler.output(), ...inspected, shown, logs, ...files];
  for (const word of ["canary", ...keyOf(github)])
    expect(texts.filter((text) => text.includes(word))).toEqual([]);
}

test.skipIf(noNetwork !== null)(
  "a secret bound to hosts and a model's key are in no byte that a run as the scheduler's user can read",
  () => expectBrokered('type = "host-user"\nrun_as = "$USER"', "", null, null),
);

test.skipIf(noNetwork !== null)(
  "git clones and pushes with the token of a GitHub App, which no byte of a run, log or store has, nor the private key",
  async () => {
    const github = await startGithub();
    onTestFinished(() => github.stop());
    github.prefix = `ghs_${hidden.git}_`;
    await expectBrokered('type = "host-user"\nrun_as = "$USER"', "", null, github);
    expect([...github.minted.values()]).toMatchObject([
      { repositories: ["website"], permissions: { contents: "write" } },
    ]);
    await expect.poll(() => github.valid, slowly).toEqual([]);
    expect(github.asked).toEqual([
      "GET /repos/acme/website/installation",
      "POST /app/installations/1/access_tokens",
      "GET /installation/repositories",
      "DELETE /installation/token",
    ]);
  },
);

test.skipIf(missing !== null)(
  "a secret bound to hosts and a model's key are in no byte that a run in a container can read",
  async () => {
    await defaultTestImage(engine);
    await expectBrokered('type = "container"', "/", engine, null);
  },
  engineSetupMs,
);
