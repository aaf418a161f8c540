import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createWorkspaces } from "../../../src/features/workspace/workspaces.ts";
import { pathProblem } from "../../../src/foundation/contracts/file-tree.ts";
import { gitFolderLimits } from "../../../src/foundation/contracts/git-names.ts";
import type { Workspace } from "../../../streams/agent-config.ts";
import type { RunRequest, Trigger } from "../../../streams/vocabulary.ts";
import { perTest } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { aCheckout, aWorkspace, startGitHost, token } from "./git-host.ts";

const host = perTest(startGitHost, (made) => made.stop());
const projectDir = perTest(tempDir);
/** Arguments of each git that the scheduler started. */
const log = perTest(() => join(tempDir(), "git.log"));
const stopped = perTest(() => new AbortController());

/** The environment with a git that logs its arguments. */
function logged(): NodeJS.ProcessEnv {
  const bin = tempDir();
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho "$@" >>${log()}\nexec ${real} "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  return { ...host().env, PATH: `${bin}:${process.env.PATH ?? ""}` };
}

const started = () => readFileSync(log(), "utf8").trim().split("\n");

const service = perTest(() =>
  createWorkspaces({
    projectDir: projectDir(),
    env: logged(),
    credential: () => Promise.resolve(host().credential),
    tokenFor: () => Promise.reject(new Error("no app")),
    untilEnd: () => stopped().signal,
  }),
);

/** The checkout that a run makes of what it receives. */
async function checkOut(request: RunRequest): Promise<string> {
  const dir = join(tempDir(), "repo");
  const run = { instanceId: request.instanceId, request };
  const entries = await service().trees.read?.(run, "workspace");
  const limits = gitFolderLimits(256 * 1024 ** 2);
  for await (const { path, content } of entries ?? []) {
    expect(pathProblem(path, limits)).toBeNull();
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    mkdirSync(dirname(join(dir, ".git", path)), { recursive: true });
    writeFileSync(join(dir, ".git", path), Buffer.concat(chunks));
  }
  gitIn(dir, "reset", "--quiet", "--hard");
  return dir;
}

function gitIn(dir: string, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: dir, encoding: "utf8", stdio: "pipe" }).trim();
}

const withCredential = { credentials: ["github_token"] };
const checkedOut = (workspace: Partial<Workspace> = {}, trigger?: Trigger) =>
  checkOut(aCheckout(aWorkspace(host().url, workspace), trigger, withCredential));

/** A repository with three commits, the last of which merges one. */
function threeCommits(): string {
  const { write, commit, git } = host();
  write("README.md", "Read me.\n");
  write("src/run.sh", "#!/bin/sh\n");
  chmodSync(join(git("rev-parse", "--show-toplevel"), "src/run.sh"), 0o755);
  commit("first");
  git("checkout", "--quiet", "-b", "side");
  write("side.txt", "side\n");
  commit("side");
  git("checkout", "--quiet", "main");
  write("README.md", "Read me again.\n");
  commit("second");
  git("merge", "--quiet", "--no-edit", "side");
  return commit("last");
}

describe("a checkout", () => {
  test("has the files of the default branch, its name, the repository as origin, and one commit", async () => {
    const commit = threeCommits();
    const dir = await checkedOut();
    expect(gitIn(dir, "ls-files")).toBe("README.md\nside.txt\nsrc/run.sh");
    expect(readFileSync(join(dir, "README.md"), "utf8")).toBe("Read me again.\n");
    expect(gitIn(dir, "status", "--porcelain", "--branch")).toBe("## main...origin/main");
    expect(gitIn(dir, "log", "--format=%H %s")).toBe(`${commit} last`);
    expect(gitIn(dir, "remote", "get-url", "origin")).toBe(host().url);
    expect(gitIn(dir, "fsck", "--strict")).toBe("");
  });

  test.each([
    [2, ["Merge branch 'side'", "last"]],
    [0, ["Merge branch 'side'", "begin", "first", "last", "second", "side"]],
  ])("with depth = %i has the commits %j", async (depth, subjects) => {
    threeCommits();
    const dir = await checkedOut({ depth });
    expect(gitIn(dir, "log", "--format=%s").split("\n").sort()).toEqual(subjects);
    gitIn(dir, "fsck", "--strict");
  });

  test("with a depth has each parent of a merge up to that depth", async () => {
    threeCommits();
    const clone = join(tempDir(), "clone");
    gitIn(tempDir(), "clone", "--quiet", "--depth=3", `file://${host().path}`, clone);
    const dir = await checkedOut({ depth: 3 });
    const commits = (at: string) => gitIn(at, "log", "--format=%H", "--date-order").split("\n");
    expect(commits(dir).sort()).toEqual(commits(clone).sort());
  });

  test("is of the branch, tag, commit or full ref that the config names", async () => {
    threeCommits();
    const { git } = host();
    git("tag", "-a", "v1", "-m", "one", "HEAD~1");
    git("push", "--quiet", "origin", "v1", "HEAD~2:refs/pull/7/head");
    const headOf = async (ref: string) => gitIn(await checkedOut({ ref }), "rev-parse", "HEAD");
    for (const ref of ["side", "v1", "HEAD"])
      expect(await headOf(ref), ref).toBe(git("rev-parse", `${ref}^{commit}`));
    expect(await headOf("refs/pull/7/head")).toBe(git("rev-parse", "HEAD~2"));
    expect(await headOf(git("rev-parse", "HEAD~1"))).toBe(git("rev-parse", "HEAD~1"));
  });

  test("is of the trigger's commit, and of the default branch for a trigger without one", async () => {
    threeCommits();
    const { git } = host();
    const headSha = git("rev-parse", "side");
    const event = { headSha, repo: "repo" } as unknown as Extract<
      Trigger,
      { kind: "webhook" }
    >["event"];
    const dir = await checkedOut({ ref: "{head_sha}" }, { kind: "webhook", event });
    expect(gitIn(dir, "rev-parse", "HEAD")).toBe(headSha);
    const other = await checkedOut({ ref: "{head_sha}" });
    expect(gitIn(other, "rev-parse", "HEAD")).toBe(git("rev-parse", "main"));
  });

  test.each([
    ["nowhere", /has no branch or tag "nowhere"/],
    ["refs/pull/8/head", /has no branch or tag/],
    ["0123456789012345678901234567890123456789", /can't be checked out: /],
  ])("of %s, which the host does not have, is refused", async (ref, message) => {
    host().commit();
    await checkedOut();
    await expect(checkedOut({ ref })).rejects.toThrow(message);
    expect(started().filter((line) => line.includes(" init "))).toHaveLength(1);
  });

  test("of a new commit fetches again, and of a known one only asks for the ref and reuses its pack", async () => {
    host().write("a", "one\n");
    host().commit();
    await checkedOut();
    const commands = () =>
      started().map((line) => /(init|ls-remote|fetch|pack-objects) /.exec(line)?.[1] ?? "");
    const first = commands().filter(Boolean);
    expect(first).toEqual(["init", "ls-remote", "fetch", "pack-objects"]);
    await checkedOut();
    expect(commands().filter(Boolean).slice(4)).toEqual(["ls-remote"]);
    host().write("a", "two\n");
    host().commit();
    expect(readFileSync(join(await checkedOut(), "a"), "utf8")).toBe("two\n");
    expect(commands().filter(Boolean).slice(5)).toEqual(["ls-remote", "fetch", "pack-objects"]);
  });
});

describe("the mirror of a repository", () => {
  test("is fetched with the scheduler's credential, which is in no argument and no file", async () => {
    host().commit();
    const dir = await checkedOut();
    expect(new Set(host().logins)).toEqual(new Set(["", `x-access-token:${token}`]));
    expect(readFileSync(log(), "utf8")).not.toContain(token);
    for (const at of [dir, join(projectDir(), ".al")])
      expect(() => execFileSync("grep", ["-rq", token, at])).toThrow();
  });

  test("is not fetched with a credential for another host", async () => {
    host().commit();
    const { fields } = host().credential;
    Object.assign(fields, { host: "git.example.org" });
    await expect(checkedOut()).rejects.toThrow(/could not read Username|Authentication failed/);
    await expect(checkedOut({ credential: "github_token" })).rejects.toThrow(
      /the credential github_token is not for https at 127.0.0.1/,
    );
    expect(new Set(host().logins)).toEqual(new Set([""]));
  });

  test.each([
    ["a pack is cut", (pack: string) => truncateSync(pack, 40)],
    ["a pack is missing", (pack: string) => execFileSync("rm", [pack])],
    [
      "its HEAD and config are lost",
      (pack: string) =>
        execFileSync("rm", [join(pack, "../../../HEAD"), join(pack, "../../../config")]),
    ],
    [
      "a lock of a killed git is left",
      (pack: string) => {
        writeFileSync(join(pack, "../../../packed-refs.lock"), "");
        writeFileSync(join(pack, "../../../refs/heads/main.lock"), "");
      },
    ],
  ])("is made anew if %s", async (_what, damage) => {
    host().write("a", "one\n");
    host().commit();
    await checkedOut();
    const [mirror = ""] = readdirSync(join(projectDir(), ".al/mirrors"));
    const packs = join(projectDir(), ".al/mirrors", mirror, "repo.git/objects/pack");
    execFileSync("chmod", ["-R", "u+w", packs]);
    damage(join(packs, readdirSync(packs).find((name) => name.endsWith(".pack")) ?? ""));
    host().write("a", "two\n");
    host().commit();
    expect(readFileSync(join(await checkedOut(), "a"), "utf8")).toBe("two\n");
  });

  test("larger than maxBytes is refused", async () => {
    const bytes = Buffer.from(Array.from({ length: 400_000 }, (_, n) => (n * 7919 * n) % 251));
    host().write("large", Buffer.concat([bytes, execFileSync("openssl", ["rand", "600000"])]));
    host().commit();
    await expect(checkedOut({ maxBytes: 300_000 })).rejects.toThrow(
      /larger than 300000 bytes, the maxBytes/,
    );
    expect(existsSync(join(await checkedOut(), "large"))).toBe(true);
  });

  test("is removed once no run used it for the given time", async () => {
    host().commit();
    await checkedOut();
    const mirrors = join(projectDir(), ".al/mirrors");
    await service().removeUnused(Date.now() - 60_000);
    expect(readdirSync(mirrors)).toHaveLength(1);
    const old = new Date(Date.now() - 120_000);
    utimesSync(join(mirrors, readdirSync(mirrors)[0] ?? ""), old, old);
    await service().removeUnused(Date.now() - 60_000);
    expect(readdirSync(mirrors)).toEqual([]);
  });

  test("serves runs at once, one after the other, and a run that ends stops waiting", async () => {
    host().write("a", "one\n");
    host().commit();
    const dirs = await Promise.all([checkedOut(), checkedOut(), checkedOut({ depth: 0 })]);
    for (const dir of dirs) expect(readFileSync(join(dir, "a"), "utf8")).toBe("one\n");
    expect(started().filter((line) => line.includes(" fetch "))).toHaveLength(1);
    const waiting = checkedOut();
    stopped().abort();
    await expect(waiting).rejects.toThrow(/the run ended before its checkout/);
    // The removal waits for the mirror's other tasks.
    await service().removeUnused(0);
  });
});
