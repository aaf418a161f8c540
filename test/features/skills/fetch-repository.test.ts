import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fetchRepository } from "../../../src/features/skills/fetch-repository.ts";
import { makeRepository, type TestRepository } from "./repositories.ts";

const { env } = process;
let repository: TestRepository;
beforeEach(() => void (repository = makeRepository()));
afterEach(() => vi.unstubAllEnvs());

test("fetching a repository returns the files of the newest commit, with contents in the requested order", async () => {
  repository.write("SKILL.md", "Do it.\n");
  repository.write("scripts/run.sh", "#!/bin/sh\n");
  repository.makeExecutable("scripts/run.sh");
  repository.link("link", "/etc/passwd");
  const commit = repository.commit();
  const fetched = await fetchRepository(repository.url, { env });
  expect(fetched.head).toBe(commit);
  const files = await fetched.files(commit);
  expect(files).toMatchObject([
    { path: "SKILL.md", kind: "file", size: 7 },
    { path: "link", kind: "link", size: 11 },
    { path: "scripts/run.sh", kind: "executable", size: 10 },
  ]);
  const contents = await fetched.contents([...files].reverse());
  expect(contents.map(String)).toEqual(["#!/bin/sh\n", "/etc/passwd", "Do it.\n"]);
  await fetched.remove();
});

test("fetching a repository can return an older commit, and diffs between versions of a file", async () => {
  repository.write("SKILL.md", "one\ntwo\n");
  const old = repository.commit();
  repository.write("SKILL.md", "one\n2\n");
  const commit = repository.commit();
  const fetched = await fetchRepository(repository.url, { env });
  expect(await fetched.fetchCommit(old)).toBe(true);
  const [before] = await fetched.files(old);
  const [after] = await fetched.files(commit);
  expect(await fetched.diff(before?.id ?? "", after?.id ?? "")).toBe(
    "@@ -1,2 +1,2 @@\n one\n-two\n+2",
  );
  const mine = await fetched.store(Buffer.from("2\n"));
  expect(await fetched.diff(mine, after?.id ?? "")).toBe("@@ -1 +1,2 @@\n+one\n 2");
  expect(await fetched.fetchCommit("0".repeat(40))).toBe(false);
  expect(await fetched.fetchCommit("--upload-pack=evil")).toBe(false);
  await fetched.remove();
});

test("fetching a repository runs no hooks, filters or configured programs of the repository, and ignores GIT_DIR", async () => {
  repository.write("SKILL.md", "Do it.\n");
  repository.write(".gitattributes", "* filter=evil\n");
  repository.commit();
  const mark = join(repository.dir, "ran");
  for (const hook of ["post-checkout", "post-merge", "reference-transaction", "pre-receive"]) {
    repository.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${mark}\n`);
    repository.makeExecutable(`.git/hooks/${hook}`);
  }
  for (const key of ["uploadpack.packObjectsHook", "core.fsmonitor", "core.alternateRefsCommand"])
    repository.git("config", key, `touch ${mark};`);
  const other = { GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere", GIT_EXTERNAL_DIFF: "false" };
  const fetched = await fetchRepository(repository.url, { env: { ...env, ...other } });
  expect(await fetched.files(fetched.head)).toHaveLength(2);
  await fetched.remove();
  expect(existsSync(mark)).toBe(false);
});

test("fetching a repository that is too large leaves no file", async () => {
  repository.write("SKILL.md", "Do it.\n");
  repository.write("video", randomBytes(3 * 1024 ** 2));
  repository.commit();
  const temporary = join(repository.dir, "tmp");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  const fetching = fetchRepository(repository.url, { env, maxBytes: 1024 ** 2 });
  await expect(fetching).rejects.toMatchObject({ code: "too_large" });
  expect(readdirSync(temporary)).toEqual([]);
});

test("fetching a repository fails if it takes too long", async () => {
  repository.write("SKILL.md", "Do it.\n");
  repository.commit();
  const fetching = fetchRepository("ssh://nobody.invalid/skills", {
    env: { ...env, GIT_SSH_COMMAND: "sh -c 'sleep 60; true' #" },
    timeoutMs: 1500,
  });
  await expect(fetching).rejects.toMatchObject({ code: "git_timeout" });
});

test.each([
  ["is not encrypted", "http://127.0.0.1:9/skills", "can't be fetched"],
  ["does not exist", "file:///nowhere/skills", "there is no directory /nowhere/skills"],
])("fetching a repository that %s fails with a readable error", async (_what, url, message) => {
  await expect(fetchRepository(url, { env })).rejects.toThrow(message);
});

test("fetching from an address that makes git run a program fails without running the program", async () => {
  const mark = join(repository.dir, "../pwned");
  for (const url of [`ext::touch ${mark}`, `ext::sh -c touch% ${mark}`, `fd::17`]) {
    await expect(fetchRepository(url, { env })).rejects.toMatchObject({ code: "git_failed" });
  }
  expect(existsSync(mark)).toBe(false);
});

test("fetching a repository without a commit fails", () =>
  expect(fetchRepository(repository.url, { env })).rejects.toMatchObject({ code: "no_skill" }));
