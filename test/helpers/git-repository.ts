import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A bare repository with one commit on `main`, in a folder of its own. */
export function makeRepository() {
  const root = mkdtempSync(join(tmpdir(), "al-git-"));
  const path = join(root, "repo.git");
  git("init", "--quiet", "--bare", "--initial-branch=main", path);
  git("-C", path, "config", "http.receivepack", "true");
  const tree = git("-C", path, "mktree").trim();
  const commit = git("-C", path, "commit-tree", "-m", "begin", tree).trim();
  git("-C", path, "update-ref", "refs/heads/main", commit);
  return {
    /** Absolute path of the folder that holds `repo.git`. */
    root,
    path,
    /** Subjects of the commits on a branch, the newest first. */
    subjects: (branch: string): string[] =>
      git("-C", path, "log", "--format=%s", branch).trim().split("\n"),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** For commits of tests: the machine's own git config takes no part. */
export const gitIdentity = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.org",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.org",
};
const env = { PATH: process.env.PATH, ...gitIdentity };

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { env, input: "", encoding: "utf8" });
}
