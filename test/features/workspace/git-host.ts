import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { startGitHttpsServer } from "../../helpers/git-https-server.ts";
import { gitIdentity, makeRepository } from "../../helpers/git-repository.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import type { AgentConfig, Workspace } from "../../../streams/agent-config.ts";
import type { RunRequest, Trigger } from "../../../streams/vocabulary.ts";

/** A token that the host accepts. */
export const token = "t0ken-of-the-scheduler";

/** A host with the repository `repo.git`, over HTTPS with a certificate of its own. */
export async function startGitHost() {
  const repository = makeRepository();
  const server = await startGitHttpsServer(repository.root, tempDir(), [token]);
  const certificate = join(tempDir(), "ca.pem");
  writeFileSync(certificate, server.certificate);
  const work = join(tempDir(), "work");
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "commit.gpgSign=false", ...args], {
      cwd: work,
      encoding: "utf8",
      env: { PATH: process.env.PATH, ...gitIdentity },
      stdio: "pipe",
    }).trim();
  mkdirSync(work);
  git("clone", "--quiet", repository.path, ".");
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), content);
  };
  const credential = {
    type: "github_token",
    instance: "default",
    fields: { token, host: server.host },
  };
  return {
    url: `https://${server.host}/repo.git`,
    host: server.host,
    /** For git of the scheduler. */
    env: { ...process.env, GIT_SSL_CAINFO: certificate },
    certificate: server.certificate,
    credential,
    logins: server.logins,
    /** Absolute path of the bare repository. */
    path: repository.path,
    git,
    write,
    /** Commits and pushes all that is there; the commit. */
    commit: (message = "change") => {
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", "-m", message);
      git("push", "--quiet", "origin", "HEAD");
      return git("rev-parse", "HEAD");
    },
    stop: async () => {
      await server.stop();
      repository.remove();
    },
  };
}

export function aWorkspace(git: string, more: Partial<Workspace> = {}): Workspace {
  const usual = { repos: [], credential: null, ref: null, depth: 1, cache: [] };
  return { git, ...usual, push: ["al/*"], maxBytes: 256 * 1024 ** 2, ...more };
}

/** A request of a run that checks out. */
export function aCheckout(
  workspace: Workspace,
  trigger: Trigger = { kind: "manual", prompt: null },
  more: Partial<AgentConfig> = {},
): RunRequest {
  const agent = anAgent("coder", { workspace, ...more });
  return { instanceId: "coder-aaaaaaaa", agent, item: anItem("item", "coder", trigger) };
}
