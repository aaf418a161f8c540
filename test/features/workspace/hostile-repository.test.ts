import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createWorkspaces } from "../../../src/features/workspace/workspaces.ts";
import { perTest } from "../../helpers/per-test.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { aCheckout, aWorkspace, startGitHost } from "./git-host.ts";

const host = perTest(startGitHost, (made) => made.stop());
const mark = perTest(() => join(tempDir(), "pwned"));
const projectDir = perTest(tempDir);

/** The bytes that a run would receive; rejects if the scheduler refuses. */
async function received(ref: string | null = null): Promise<number> {
  const service = createWorkspaces({
    projectDir: projectDir(),
    env: { ...host().env, HOME: tempDir() },
    credential: () => Promise.resolve(host().credential),
    tokenFor: () => Promise.reject(new Error("no app")),
    untilEnd: () => new AbortController().signal,
  });
  const workspace = aWorkspace(host().url, { ref, maxBytes: 8 * 1024 ** 2 });
  const request = aCheckout(workspace, undefined, { credentials: ["github_token"] });
  let bytes = 0;
  for await (const entry of (await service.trees.read?.(
    { instanceId: "r", request },
    "workspace",
  )) ?? [])
    for await (const chunk of entry.content) bytes += chunk.length;
  return bytes;
}

afterEach(() => expect(existsSync(mark())).toBe(false));

/** Commits a tree that git itself would not make, past the checks of a push. */
function commitTree(entries: readonly (readonly [mode: string, name: string, id: string])[]) {
  const list = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${Number(mode)} ${name}\0`), Buffer.from(id, "hex")]),
  );
  const bare = (args: readonly string[], input: string | Buffer = "") =>
    execFileSync("git", ["-C", host().path, "-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      input,
      encoding: "utf8",
    }).trim();
  const tree = bare(
    ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
    Buffer.concat(list),
  );
  bare(["update-ref", "refs/heads/main", bare(["commit-tree", tree, "-m", "made by hand"])]);
}

const blob = (content: string) =>
  execFileSync("git", ["-C", host().path, "hash-object", "-w", "--stdin"], {
    input: content,
    encoding: "utf8",
  }).trim();

describe("the scheduler", () => {
  test("runs no hook, filter, submodule or external diff that a repository names", async () => {
    const { write, commit, git } = host();
    const command = `sh -c 'touch ${mark()}'`;
    for (const name of ["post-checkout", "reference-transaction", "post-merge"])
      write(`hooks/${name}`, `#!/bin/sh\ntouch ${mark()}\n`);
    write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    write(
      ".gitconfig",
      `[filter "evil"]\nsmudge = ${command}\nprocess = ${command}\n[core]\nfsmonitor = ${command}\n`,
    );
    write(".lfsconfig", `[lfs]\nurl = ext::${command}\n`);
    write(
      ".gitmodules",
      `[submodule "x"]\npath = x\nurl = ext::${command}\nupdate = !${command}\n`,
    );
    git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},x`);
    // A submodule with such an address is refused by the check of objects.
    commit();
    await expect(received()).rejects.toThrow(/gitmodules/);
    write(".gitmodules", '[submodule "x"]\npath = x\nurl = https://127.0.0.1:1/x.git\n');
    git("add", ".gitmodules");
    git("commit", "--quiet", "--amend", "-m", "plain");
    git("push", "--quiet", "--force", "origin", "HEAD");
    expect(await received()).toBeGreaterThan(0);
    const [mirror = ""] = readdirSync(join(projectDir(), ".al/mirrors"));
    const top = readdirSync(join(projectDir(), ".al/mirrors", mirror, "repo.git"));
    expect(top).not.toContain("modules");
    expect(top).not.toContain("index");
  });

  test("refuses paths of .git, of parents and with slashes in a tree", async () => {
    for (const name of [".git", ".GIT", "..", ".", "a/b", ".git\u200c", "git~1"]) {
      commitTree([["100644", name, blob("x")]]);
      await expect(received(), name).rejects.toThrow(/can't be checked out/);
    }
  });

  test("receives a tree whose levels multiply as the few objects that it has", async () => {
    let [mode, id] = ["100644", blob("x")];
    for (let depth = 0; depth < 10; depth += 1) {
      const list = Array.from({ length: 10 }, (_, n) =>
        Buffer.concat([Buffer.from(`${Number(mode)} f${n}\0`), Buffer.from(id, "hex")]),
      );
      id = execFileSync("git", ["-C", host().path, "hash-object", "-t", "tree", "-w", "--stdin"], {
        input: Buffer.concat(list),
        encoding: "utf8",
      }).trim();
      mode = "40000";
    }
    commitTree([[mode, "many", id]]);
    // Eleven objects, whatever a checkout makes of them in the run.
    expect(await received()).toBeLessThan(10_000);
  });

  test("takes refs of the host for names only", async () => {
    const { commit, path } = host();
    const head = commit();
    const bare = (...args: readonly string[]) => execFileSync("git", ["-C", path, ...args]);
    for (const name of ["-x", "--upload-pack=touch", "$(touch-x)", "a;b"])
      bare("update-ref", `refs/heads/${name}`, head);
    expect(await received()).toBeGreaterThan(0);
    expect(await received("$(touch-x)")).toBeGreaterThan(0);
    await expect(received("-x")).rejects.toThrow(/begins with "-"/);
  });

  test("uses no transport but the one of the address", async () => {
    host().commit();
    const service = createWorkspaces({
      projectDir: projectDir(),
      env: host().env,
      credential: () => Promise.resolve(host().credential),
      tokenFor: () => Promise.reject(new Error("no app")),
      untilEnd: () => new AbortController().signal,
    });
    for (const git of [`file://${host().path}`, host().path, `ext::touch ${mark()}`]) {
      const request = aCheckout(aWorkspace(git));
      const read = service.trees.read?.({ instanceId: "r", request }, "workspace");
      await expect(read, git).rejects.toThrow(/is not the address of a repository/);
    }
  });
});
