import { stageCredentials } from "../../../src/foundation/credentials/stage-credentials.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { exitOf, messagesOf } from "./contract.ts";
import { aScripted, type JobOptions } from "../harness/jobs.ts";
import { startGitHttpsServer, type GitHttpsServer } from "../../helpers/git-https-server.ts";
import { makeRepository, type GitRepository } from "../../helpers/git-repository.ts";
import { startSshServer, whyNoSshServer, type SshServer } from "../../helpers/ssh-server.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** Runs a job with this subject to its end. */
export type RunJob = (job: JobOptions) => Promise<readonly RunnerEvent[]>;

const noSshServer = whyNoSshServer();
const commit = `git -C repo commit --quiet --allow-empty -m`;
const identity = "git config --global user.name Dev; git config --global user.email d@example.org";

/** The promises of git credentials in every runtime: hooks and the agent's shell clone and push with them. */
export function gitAccessTests(runtime: string, run: () => RunJob): void {
  let dir: string;
  let repository: GitRepository;
  beforeEach(() => {
    dir = tempDir();
    repository = makeRepository();
  });
  afterEach(() => repository.remove());

  const withCredentials = (
    credentials: Parameters<typeof stageCredentials>[0],
    pre: readonly string[],
    shell = "true",
  ) =>
    run()({
      credentials: stageCredentials(credentials),
      hooks: { pre: [...pre], post: [] },
      models: [
        aScripted([
          { tools: [{ name: "bash", arguments: { command: shell } }] },
          { text: "All done." },
        ]),
      ],
    });

  describe.skipIf(noSshServer !== null)(`git over ssh ${runtime}`, () => {
    let server: SshServer;
    beforeEach(async () => void (server = await startSshServer(dir)));
    afterEach(() => server.stop());

    const identityOf = (fields: Readonly<Record<string, string>> = {}) => [
      {
        type: "git_ssh",
        instance: "default",
        fields: {
          private_key: server.privateKey,
          name: "Dev",
          email: "dev@example.org",
          ...fields,
        },
      },
    ];
    const clone = () => `git clone --quiet ${server.url}${repository.path} repo`;

    test("git over ssh clones in a hook and pushes from the agent's shell, with the host's first key", async () => {
      const push = `${commit} pushed && git -C repo push --quiet && echo pushed it`;
      const events = await withCredentials(identityOf(), [clone()], push);
      expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
      expect(JSON.stringify(events)).toContain("pushed it");
      expect(repository.subjects("main")).toEqual(["pushed", "begin"]);
    });

    test("git over ssh refuses a host that is not among the credential's known hosts", async () => {
      const known = server.knownHost;
      const right = await withCredentials(identityOf({ known_hosts: known }), [clone()]);
      expect(exitOf(right)).toMatchObject({ exitCode: 0 });
      const other = known.replace(/^\S+/, "git.example.org");
      const wrong = await withCredentials(identityOf({ known_hosts: other }), [clone()]);
      expect(exitOf(wrong).error).toMatch(/Host key verification failed/);
    });

    test("git over ssh knows the keys of the usual hosts, and rejects an impostor of such a host", async () => {
      const posing = `GIT_SSH_COMMAND="$GIT_SSH_COMMAND -o HostKeyAlias=github.com" ${clone()}`;
      const events = await withCredentials(identityOf(), [posing]);
      expect(exitOf(events).error).toMatch(/Host key verification failed/);
      expect(messagesOf(events).join("\n")).toContain("REMOTE HOST IDENTIFICATION HAS CHANGED");
    });
  });

  describe(`git over https ${runtime}`, () => {
    let server: GitHttpsServer;
    beforeEach(async () => {
      server = await startGitHttpsServer(repository.root, dir, ["t0ken-of-one", "t0ken-of-two"]);
    });
    afterEach(() => server.stop());

    const tokenOf = (type: string, instance: string, host: string, token: string) => ({
      type,
      instance,
      fields: { token, host },
    });
    const trust = () =>
      `echo '${server.certificate}' >ca.pem; git config --global http.sslCAInfo "$PWD/ca.pem"; ${identity}`;
    const clone = (log: string) =>
      `GIT_TRACE="$PWD/${log}" git clone --quiet https://${server.host}/repo.git repo`;

    test("git over https clones in a hook and pushes from the agent's shell, with the token in no argument and no file of the repository", async () => {
      const token = "t0ken-of-one";
      const pushed = `${commit} pushed && git -C repo push --quiet && echo pushed it`;
      const leaked = `grep -r "$GITHUB_TOKEN" repo/.git trace.log && echo leaked`;
      const events = await withCredentials(
        [tokenOf("github_token", "default", server.host, token)],
        [trust(), clone("trace.log")],
        `${pushed}; ${leaked}`,
      );
      expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
      const text = JSON.stringify(events);
      expect(text).toContain("pushed it");
      expect(text).not.toContain("leaked\\n");
      expect(text).not.toContain(token);
      expect(repository.subjects("main")).toEqual(["pushed", "begin"]);
      expect(new Set(server.logins)).toEqual(new Set(["", `x-access-token:${token}`]));
    });

    test("git over https gives each host its own token, and none to others", async () => {
      const tokens = [
        tokenOf("github_token", "other", "git.example.org", "t0ken-of-one"),
        tokenOf("github_token", "mine", server.host, "t0ken-of-two"),
        tokenOf("gitlab_token", "default", "gitlab.example.org", "t0ken-of-one"),
      ];
      const events = await withCredentials(tokens, [trust(), clone("trace.log")]);
      expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
      expect(new Set(server.logins)).toEqual(new Set(["", "x-access-token:t0ken-of-two"]));
      const none = await withCredentials(tokens.slice(0, 1), [trust(), clone("trace.log")]);
      expect(exitOf(none).error).toMatch(/could not read Username/);
    });
  });
}
