import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { exitOf, messagesOf } from "./contract.ts";
import { aScripted, type JobOptions } from "../harness/jobs.ts";
import { startGitHttpsServer } from "../../helpers/git-https-server.ts";
import { makeRepository } from "../../helpers/git-repository.ts";
import { perTest } from "../../helpers/per-test.ts";
import { startSshServer, whyNoSshServer } from "../../helpers/ssh-server.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** Runs a job with this subject to its end. */
export type RunJob = (job: JobOptions) => Promise<readonly RunnerEvent[]>;

const noSshServer = whyNoSshServer();
const push = `git -C repo commit --quiet --allow-empty -m pushed && git -C repo push --quiet && echo pushed it`;
const identity = "git config --global user.name Dev; git config --global user.email d@example.org";

/** The promises of git credentials in every runtime: hooks and the agent's shell clone and push with them. */
export function gitAccessTests(runtime: string, run: RunJob): void {
  const repository = perTest(makeRepository, (repository) => repository.remove());

  const withCredentials = async (
    credentials: Parameters<typeof stageCredentials>[0],
    pre: string,
    command = "true",
  ) => {
    const turn = { tools: [{ name: "bash", arguments: { command } }] };
    const events = await run({
      credentials: stageCredentials(credentials),
      hooks: { pre: [pre], post: [] },
      models: [aScripted([turn, { text: "All done." }])],
    });
    return { exit: exitOf(events), lines: messagesOf(events), text: JSON.stringify(events) };
  };
  const good = { exitCode: 0, error: null };

  describe.skipIf(noSshServer !== null)(`git over ssh ${runtime}`, () => {
    const server = perTest(
      () => startSshServer(tempDir()),
      (server) => server.stop(),
    );
    const clone = () => `git clone --quiet ${server().url}${repository().path} repo`;
    const withKey = (
      known: { readonly known_hosts?: string },
      ...given: [pre: string, command?: string]
    ) => {
      const person = { name: "Dev", email: "dev@example.org" };
      const fields = { private_key: server().privateKey, ...person, ...known };
      return withCredentials([{ type: "git_ssh", instance: "default", fields }], ...given);
    };

    test("git over ssh clones in a hook and pushes from the agent's shell", async () => {
      const { exit, text } = await withKey({}, clone(), push);
      expect(exit).toMatchObject(good);
      expect(text).toContain("pushed it");
      expect(repository().subjects("main")).toEqual(["pushed", "begin"]);
    });

    test("git over ssh refuses a host whose key the credential does not list", async () => {
      const known_hosts = server().knownHost;
      expect((await withKey({ known_hosts }, clone())).exit).toMatchObject(good);
      const other = known_hosts.replace(/^\S+/, "git.example.org");
      const { exit } = await withKey({ known_hosts: other }, clone());
      expect(exit.error).toMatch(/Host key verification failed/);
    });

    test("git over ssh rejects a server with a false key for a well-known host", async () => {
      const posing = `GIT_SSH_COMMAND="$GIT_SSH_COMMAND -o HostKeyAlias=github.com" ${clone()}`;
      const { exit, lines } = await withKey({}, posing);
      expect(exit.error).toMatch(/Host key verification failed/);
      expect(lines.join("\n")).toContain("REMOTE HOST IDENTIFICATION HAS CHANGED");
    });
  });

  describe(`git over https ${runtime}`, () => {
    const server = perTest(
      () => startGitHttpsServer(repository().root, tempDir(), ["t0ken-of-one", "t0ken-of-two"]),
      (server) => server.stop(),
    );
    const tokenOf = (type: string, host: string, token: string, instance = "default") => ({
      type,
      instance,
      fields: { token, host },
    });
    const clone = () =>
      `echo '${server().certificate}' >ca.pem; git config --global http.sslCAInfo "$PWD/ca.pem"; ${identity}
      GIT_TRACE="$PWD/trace.log" git clone --quiet https://${server().host}/repo.git repo`;
    const logins = () => new Set(server().logins);

    test("git over https clones and pushes, with the token in no argument and no file of the repository", async () => {
      const token = "t0ken-of-one";
      const leaked = `grep -r "$GITHUB_TOKEN" repo/.git trace.log && echo leaked`;
      const own = tokenOf("github_token", server().host, token);
      const { exit, text } = await withCredentials([own], clone(), `${push}; ${leaked}`);
      expect(exit).toMatchObject(good);
      expect(text).toContain("pushed it");
      expect(text).not.toContain("leaked\\n");
      expect(text).not.toContain(token);
      expect(repository().subjects("main")).toEqual(["pushed", "begin"]);
      expect(logins()).toEqual(new Set(["", `x-access-token:${token}`]));
    });

    test("git over https sends each host its own token, and other hosts none", async () => {
      const other = tokenOf("github_token", "git.example.org", "t0ken-of-one", "other");
      const mine = tokenOf("github_token", server().host, "t0ken-of-two", "mine");
      const gitlab = tokenOf("gitlab_token", "gitlab.example.org", "t0ken-of-one");
      expect((await withCredentials([other, mine, gitlab], clone())).exit).toMatchObject(good);
      expect(logins()).toEqual(new Set(["", "x-access-token:t0ken-of-two"]));
      const { exit } = await withCredentials([other], clone());
      expect(exit.error).toMatch(/could not read Username/);
    });
  });
}
