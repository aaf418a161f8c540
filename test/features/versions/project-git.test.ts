import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProjectGit, type ProjectGit } from "../../../src/features/versions/project-git.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { makeRepository, type TestRepository } from "../skills/repositories.ts";

const env = { ...process.env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
let repository: TestRepository;
let elapsedMs: number;

beforeEach(() => {
  repository = makeRepository();
  elapsedMs = 0;
});

const write = (path: string, text = "") => repository.write(path, text);

function committed(): string {
  write("config.toml");
  return repository.commit();
}

function projectGit(projectDir = repository.dir, more: NodeJS.ProcessEnv = {}): ProjectGit {
  return createProjectGit({ projectDir, env: { ...env, ...more }, elapsed: () => elapsedMs });
}

test("the version of a project is its git commit, and dirty if a file is changed or new", async () => {
  const commit = committed();
  expect(await projectGit().state()).toEqual({ commit, dirty: false });
  write("config.toml", "scale = 2\n");
  expect(await projectGit().state()).toEqual({ commit, dirty: true });
  repository.git("checkout", "--quiet", ".");
  write("new");
  expect(await projectGit().state()).toEqual({ commit, dirty: true });
});

test("only changes in the project's directory make its version dirty; the scheduler's own files are ignored", async () => {
  write("project/config.toml");
  const commit = committed();
  write("beside");
  write("project/.al/state.db");
  expect(await projectGit(join(repository.dir, "project")).state()).toEqual({
    commit,
    dirty: false,
  });
});

test("the version of a project with too many changes to read is dirty", async () => {
  const commit = committed();
  for (let n = 0; n < 2_000; n++) write(`${"long".repeat(20)}${n}`);
  expect(await projectGit().state()).toEqual({ commit, dirty: true });
});

test("the commit of a project is null if the repository, a commit or git is missing", async () => {
  const outside = { GIT_CEILING_DIRECTORIES: tmpdir() };
  expect(await projectGit(tempDir(), outside).state()).toBeNull();
  expect(await projectGit().state()).toBeNull();
  repository.commit();
  expect(await projectGit(undefined, { PATH: "/nowhere" }).state()).toBeNull();
  write(".git/HEAD", "broken");
  expect(await projectGit().state()).toBeNull();
});

test("environment variables of a git hook do not make the project's commit another repository's", async () => {
  const commit = committed();
  const more = { GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere", GIT_WORK_TREE: "/" };
  expect(await projectGit(undefined, more).state()).toEqual({ commit, dirty: false });
});

test("the commit of a project is read once for concurrent callers, and again after some seconds or a change", async () => {
  const commit = committed();
  const one = projectGit();
  const first = one.state();
  expect(first).toBeInstanceOf(Promise);
  expect(one.state()).toBe(first);
  await first;
  expect(one.state()).toEqual({ commit, dirty: false });
  const second = repository.commit();
  expect(one.state()).toEqual({ commit, dirty: false });
  elapsedMs += 5_000;
  expect(await one.state()).toEqual({ commit: second, dirty: false });
  const third = repository.commit();
  one.invalidate();
  expect(await one.state()).toEqual({ commit: third, dirty: false });
});
