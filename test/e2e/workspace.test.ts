import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { connectProxy } from "../helpers/connect-proxy.ts";
import { certificateFor, startGitHttpsServer } from "../helpers/git-https-server.ts";
import { makeRepository } from "../helpers/git-repository.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { bash, scriptedAgents } from "../helpers/scripted-agents.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";

vi.setConfig({ testTimeout: 120_000 });
const noNetwork = whyNoNetwork();
noteSkipped("pushes of a workspace", noNetwork);

const token = "canary-git-token-77a1";

/** `https://git.allowed.test/acme/website.git`, and the environment of a scheduler that reaches it. */
async function gitHost() {
  const repository = makeRepository();
  const certificate = certificateFor("DNS:git.allowed.test");
  const server = await startGitHttpsServer(repository.root, tempDir(), [token], certificate);
  const proxy = await connectProxy(Number(server.host.split(":")[1]));
  const file = join(tempDir(), "ca.pem");
  writeFileSync(file, certificate.cert);
  onTestFinished(async () => {
    await proxy.close();
    await server.stop();
    repository.remove();
  });
  const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: file, GIT_SSL_CAINFO: file };
  return { repository, server, env };
}

const workspace = `[workspace]
git = "https://git.allowed.test/repo.git"
`;
const identity =
  "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org";
const push = (refs: string) =>
  bash(
    `cd "$AL_WORKSPACE"; ${identity}; git commit -q --allow-empty -m "from a run"; git push origin ${refs} 2>&1; echo "exit $?"`,
  );

test.skipIf(noNetwork !== null)(
  "a run has the checkout of its repository, and pushes with the brokered credential to the listed refs only",
  async () => {
    const { repository, env } = await gitHost();
    const project = await scriptedAgents({
      coder: {
        credentials: ["github_token"],
        config: `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n${workspace}`,
        turns: [
          bash('cd "$AL_WORKSPACE" && git status --branch --short && git log --format=%s && pwd'),
          push("HEAD:refs/heads/al/fix"),
          push("HEAD:refs/heads/main"),
          push("HEAD:refs/tags/v1 HEAD:refs/heads/al/two"),
          push(":refs/heads/al/fix"),
          bash("cd $AL_WORKSPACE && git fetch -q origin && git branch -r"),
        ].join(""),
      },
    });
    await project.store("github_token", { token, host: "git.allowed.test" });
    await project.start({ env });
    const output = await project.print("run", "coder");
    expect(output).toContain("## main...origin/main");
    expect(output).toMatch(/refs\/heads\/main.*may push al\/\* only/);
    expect(output).toMatch(/\[remote rejected\]/);
    expect(repository.subjects("al/fix")).toContain("from a run");
    expect(repository.subjects("main")).toEqual(["begin"]);
    const refs = execFileSync("git", [
      "-C",
      repository.path,
      "for-each-ref",
      "--format=%(refname)",
    ]);
    expect(refs.toString().trim().split("\n")).toEqual(["refs/heads/al/fix", "refs/heads/main"]);
    expect(output).not.toContain(token);
  },
);
