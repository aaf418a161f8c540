import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProjectGit, type ProjectGit } from "../../../src/features/versions/project-git.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const env = { ...process.env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
let dir: string;
let elapsedMs: number;

beforeEach(() => {
  dir = tempDir();
  elapsedMs = 0;
});

function git(...args: readonly string[]): string {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  return execFileSync("git", ["-C", dir, ...identity, ...args], { env, encoding: "utf8" }).trim();
}

function commitAll(): string {
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "-m", "change");
  return git("rev-parse", "HEAD");
}

const write = (path: string, text = "") => writeFileSync(join(dir, path), text);

function repository(): string {
  git("init", "--quiet");
  write("config.toml");
  return commitAll();
}

function projectGit(projectDir = dir, more: NodeJS.ProcessEnv = {}): ProjectGit {
  return createProjectGit({ projectDir, env: { ...env, ...more }, elapsed: () => elapsedMs });
}

test("the version of a project is its git commit, and dirty if a file is changed or new", async () => {
  const commit = repository();
  expect(await projectGit().state()).toEqual({ commit, dirty: false });
  write("config.toml", "scale = 2\n");
  expect(await projectGit().state()).toEqual({ commit, dirty: true });
  git("checkout", "--quiet", ".");
  write("new");
  expect(await projectGit().state()).toEqual({ commit, dirty: true });
});

test("only changes in the project's directory make its version dirty; the scheduler's own files are ignored", async () => {
  mkdirSync(join(dir, "project", ".al"), { recursive: true });
  write("project/config.toml");
  const commit = repository();
  write("beside");
  write("project/.al/state.db");
  expect(await projectGit(join(dir, "project")).state()).toEqual({ commit, dirty: false });
});

test("the version of a project with too many changes to read is dirty", async () => {
  const commit = repository();
  for (let n = 0; n < 2_000; n++) write(`${"long".repeat(20)}${n}`);
  expect(await projectGit().state()).toEqual({ commit, dirty: true });
});

test("the commit of a project is null if the repository, a commit or git is missing", async () => {
  const outside = { GIT_CEILING_DIRECTORIES: tmpdir() };
  expect(await projectGit(dir, outside).state()).toBeNull();
  git("init", "--quiet");
  expect(await projectGit().state()).toBeNull();
  commitAll();
  expect(await projectGit(dir, { PATH: "/nowhere" }).state()).toBeNull();
  write(".git/HEAD", "broken");
  expect(await projectGit().state()).toBeNull();
});

test("environment variables of a git hook do not make the project's commit another repository's", async () => {
  const commit = repository();
  const more = { GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere", GIT_WORK_TREE: "/" };
  expect(await projectGit(dir, more).state()).toEqual({ commit, dirty: false });
});

test("the commit of a project is read once for concurrent callers, and again after some seconds or a change", async () => {
  const commit = repository();
  const one = projectGit();
  const first = one.state();
  expect(first).toBeInstanceOf(Promise);
  expect(one.state()).toBe(first);
  await first;
  expect(one.state()).toEqual({ commit, dirty: false });
  const second = commitAll();
  expect(one.state()).toEqual({ commit, dirty: false });
  elapsedMs += 5_000;
  expect(await one.state()).toEqual({ commit: second, dirty: false });
  const third = commitAll();
  one.invalidate();
  expect(await one.state()).toEqual({ commit: third, dirty: false });
});
