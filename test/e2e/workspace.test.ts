import { execFileSync } from "node:child_process";
import { removeAll } from "../helpers/container-project.ts";
import { engineSetupMs, defaultTestImage, testBase, testEngine } from "../helpers/docker.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { bash, scriptedAgents } from "../helpers/scripted-agents.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { outsideGit } from "./outside-git.ts";

vi.setConfig({ testTimeout: 180_000 });
const { engine, missing } = await testEngine();
const noNetwork = whyNoNetwork();
noteSkipped("workspaces of host users", noNetwork);

const token = "canary-git-token-77a1";
const identity =
  "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org";
const push = (refs: string) =>
  bash(
    `cd "$AL_WORKSPACE"; ${identity}; git commit -q --allow-empty -m "from a run"; git push origin ${refs} 2>&1; echo "exit $?"`,
  );

const turns = [
  bash('cd "$AL_WORKSPACE" && git status --branch --short && git log --format=%s'),
  push("HEAD:refs/heads/al/fix"),
  push("HEAD:refs/heads/main"),
  push("HEAD:refs/tags/v1 HEAD:refs/heads/al/two"),
  push(":refs/heads/al/fix"),
].join("");

/** A run has its checkout, and pushes to the listed refs only. */
async function expectWorkspace(runtime: string): Promise<void> {
  const { repository, env } = await outsideGit("git.allowed.test", "acme/website.git", [token]);
  const git = 'git = "https://git.allowed.test/acme/website.git"';
  const config = `[runtime]\n${runtime}\n[workspace]\n${git}\n`;
  const withToken = { credentials: ["github_token"] };
  const agent = { ...withToken, config, turns };
  const warm =
    'cat ~/.npm/a || echo cold; mkdir -p ~/.npm; echo "warm from $AL_INSTANCE" >~/.npm/a';
  const cacher = { config: `${config}cache = ["~/.npm"]\n`, ...withToken, turns: bash(warm) };
  const project = await scriptedAgents({ coder: agent, cacher }, `[local]\nbase = "${testBase}"\n`);
  if (missing === null) onTestFinished(() => removeAll(engine, project.dir));
  await project.store("github_token", { token, host: "git.allowed.test" });
  await project.start({ env });
  const output = await project.print("run", "coder");
  expect(output).toMatch(/workspace website: [0-9a-f]{40} begin[^]*## main\.\.\.origin\/main/);
  expect(output).toMatch(
    /push to refs\/heads\/main is not allowed[^]*-> main \(this agent may push al\/\* only/,
  );
  expect(output).toMatch(/-> al\/two \(another ref of this push is refused/);
  expect(repository.subjects("al/fix")).toContain("from a run");
  expect(repository.subjects("main")).toEqual(["begin"]);
  const refs = execFileSync("git", ["-C", repository.path, "for-each-ref", "--format=%(refname)"]);
  expect(refs.toString().trim().split("\n")).toEqual(["refs/heads/al/fix", "refs/heads/main"]);
  expect(output).not.toContain(token);
  expect(await project.print("run", "cacher")).toMatch(/^ +cold$/m);
  expect(await project.print("run", "cacher")).toMatch(/^ +warm from cacher-/m);
}

test.skipIf(noNetwork !== null)(
  "a run as the scheduler's user has the checkout of its repository and the cache of the run before, and pushes to the listed refs only",
  () => expectWorkspace('type = "host-user"\nrun_as = "$USER"'),
);

describe.skipIf(missing !== null)("with the default image", () => {
  beforeAll(() => defaultTestImage(engine), engineSetupMs);

  test("a run in a container has the checkout of its repository and the cache of the run before, and pushes to the listed refs only", () =>
    expectWorkspace('type = "container"'));
});

test.skipIf(noNetwork !== null)(
  "a run whose repository or ref can't be had fails before its model is asked, with the reason",
  async () => {
    const { env } = await outsideGit("git.allowed.test", "acme/website.git", [token]);
    const config = (more: string) =>
      `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n[workspace]\n${more}\n`;
    const url = "https://git.allowed.test/acme";
    const project = await scriptedAgents({
      gone: {
        credentials: ["github_token"],
        config: config(`git = "${url}/website.git"\nref = "gone"`),
      },
      locked: { config: config(`git = "${url}/website.git"`) },
      chosen: { config: config(`git = "${url}/{source}.git"\nrepos = ["acme/website"]`) },
    });
    await project.store("github_token", { token, host: "git.allowed.test" });
    await project.start({ env });
    const failure = async (agent: string) => (await project.al("run", agent)).stdout;
    expect(await failure("gone")).toMatch(/run failed.*has no branch or tag "gone"/);
    expect(await failure("locked")).toMatch(
      /run failed.*does not exist, or the login may not read it/,
    );
    expect(await failure("chosen")).toMatch(/\[workspace\]: the trigger has no source/);
    expect(await project.messages("gone", "model")).toEqual([]);
  },
);
