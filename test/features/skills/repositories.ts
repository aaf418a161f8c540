import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** A git repository of a test. */
export interface TestRepository {
  readonly dir: string;
  /** `file://…` */
  readonly url: string;
  write(path: string, content: string | Uint8Array): void;
  makeExecutable(path: string): void;
  link(path: string, target: string): void;
  git(...args: readonly string[]): string;
  /** Commits all that is there; the commit. */
  commit(): string;
  /**
   * Commits a tree that git itself would not make: entries as git lists them, `<mode> <type> <id>\t<name>`.
   */
  commitTree(entries: readonly string[]): string;
  /** Stores such a tree; its id. */
  tree(entries: readonly string[]): string;
  /** Stores a content; its id. */
  store(content: string): string;
  remove(): void;
}

const who = [
  "-c",
  "user.name=Tester",
  "-c",
  "user.email=tester@example.com",
  "-c",
  "commit.gpgSign=false",
];

/** An empty repository in a temporary folder, called `skills`. */
export function makeRepository(): TestRepository {
  const folder = mkdtempSync(join(tmpdir(), "al-repository-"));
  const dir = join(folder, "skills");
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
    url: pathToFileURL(dir).href,
    write,
    makeExecutable: (path) => chmodSync(join(dir, path), 0o755),
    link: (path, target) => {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      symlinkSync(target, join(dir, path));
    },
    git: (...args) => run(args),
    commit: () => {
      run(["add", "--all"]);
      run(["commit", "--quiet", "--allow-empty", "-m", "change"]);
      return run(["rev-parse", "HEAD"]);
    },
    tree,
    commitTree: (entries) => {
      const commit = run(["commit-tree", tree(entries), "-m", "made by hand"]);
      run(["update-ref", "HEAD", commit]);
      return commit;
    },
    store: (content) => run(["hash-object", "-w", "--stdin"], content),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
