import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { tempDir } from "../../helpers/temp-dir.ts";

const who = ["user.name=Tester", "user.email=tester@example.com", "commit.gpgSign=false"].flatMap(
  (setting) => ["-c", setting],
);

/** An empty repository in a folder called `skills`, until the test ends. */
export function makeRepository() {
  const dir = join(tempDir(), "skills");
  mkdirSync(dir);
  const run = (args: readonly string[], input: string | Uint8Array = "") =>
    execFileSync("git", [...who, ...args], {
      cwd: dir,
      input,
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  run(["init", "--quiet", "--initial-branch=main"]);
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  };
  const tree = (entries: readonly string[]) => {
    const list = entries.map((entry) => {
      const [, mode = "", id = "", name = ""] = /^(\d+) \w+ ([0-9a-f]+)\t([^]*)$/.exec(entry) ?? [];
      return Buffer.concat([Buffer.from(`${Number(mode)} ${name}\0`), Buffer.from(id, "hex")]);
    });
    return run(["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], Buffer.concat(list));
  };
  return {
    dir,
    /** `file://…` */
    url: pathToFileURL(dir).href,
    write,
    makeExecutable: (path: string) => chmodSync(join(dir, path), 0o755),
    link: (path: string, target: string) => {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      symlinkSync(target, join(dir, path));
    },
    git: (...args: readonly string[]) => run(args),
    /** Commits all that is there; the commit. */
    commit: () => {
      run(["add", "--all"]);
      run(["commit", "--quiet", "--allow-empty", "-m", "change"]);
      return run(["rev-parse", "HEAD"]);
    },
    /** Stores such a tree; its id. */
    tree,
    /**
     * Commits a tree that git itself would not make: entries as git lists them, `<mode> <type> <id>\t<name>`.
     */
    commitTree: (entries: readonly string[]) => {
      const commit = run(["commit-tree", tree(entries), "-m", "made by hand"]);
      run(["update-ref", "HEAD", commit]);
      return commit;
    },
    /** Stores a content; its id. */
    store: (content: string) => run(["hash-object", "-w", "--stdin"], content),
  };
}

/** A git repository of a test. */
export type TestRepository = ReturnType<typeof makeRepository>;
