import { Problem } from "../../foundation/errors.ts";
import type { TreeEntry } from "./git.ts";

/** The part of a skill's directory that becomes part of an agent. */
export interface PickedFiles {
  /** With paths from the skill's directory, which are safe to write; SKILL.md first. */
  readonly files: readonly TreeEntry[];
  /** The other files of the directory. */
  readonly leftOut: readonly TreeEntry[];
}

const singleFiles = ["SKILL.md", "Dockerfile"];
const folders = ["scripts", "references", "assets"];

/** Limits of an agent's own files (src/foundation/config/): every picked file can be used in a run. */
const limits = {
  files: 500,
  textBytes: 1024 ** 2,
  fileBytes: 10 * 1024 ** 2,
  totalBytes: 16 * 1024 ** 2,
  depth: 8,
  name: 200,
};

/**
 * SKILL.md, `scripts/`, `references/`, `assets/` and the Dockerfile. Throws a Problem for what no skill needs
 * and an attacker may have put there: links, submodules, strange names, masses.
 */
export function pickFiles(entries: readonly TreeEntry[], { prefix }: FoundSkill): PickedFiles {
  const own = entries
    .filter(({ path }) => path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
  const files = own.filter(({ path }) => isTaken(path));
  for (const file of files) refuseUnsafe(file);
  refuseMasses(files);
  refuseTwins(files);
  files.sort((a, b) => rank(a.path) - rank(b.path) || (a.path < b.path ? -1 : 1));
  return { files, leftOut: own.filter((entry) => !files.includes(entry)) };
}

/** A link or submodule in a folder's place has the folder's own name. */
function isTaken(path: string): boolean {
  const [first = ""] = path.split("/");
  return singleFiles.includes(path) || folders.includes(first);
}

function rank(path: string): number {
  const index = singleFiles.indexOf(path);
  return index < 0 ? singleFiles.length : index;
}

function refuseUnsafe({ path, kind, size }: TreeEntry): void {
  if (kind === "link") throw refused(path, "is a symbolic link, which could lead anywhere");
  if (kind === "submodule") throw refused(path, "is a submodule, which is not fetched");
  const parts = path.split("/");
  if (parts.some(isStrange) || /[\p{C}\p{Zl}\p{Zp}\\\uFFFD]/u.test(path)) {
    throw refused(path, "is not a plain name");
  }
  if (folders.includes(path)) throw refused(path, "is a file; expected a folder");
  if (parts.length > limits.depth || path.length > limits.name) {
    const most = `${limits.depth} names and ${limits.name} characters`;
    throw refused(`${path.slice(0, 80)}…`, `is nested too deeply; at most ${most} are allowed`);
  }
  const most = singleFiles.includes(path) ? limits.textBytes : limits.fileBytes;
  if (size > most) throw refused(path, `has ${size} bytes; at most ${most} are allowed`);
}

/** Names with a meaning of their own to a file system or to git. */
function isStrange(name: string): boolean {
  return name === "" || name === "." || name === ".." || /^\.git$/i.test(name);
}

function refuseMasses(files: readonly TreeEntry[]): void {
  const bytes = files.reduce((total, { size }) => total + size, 0);
  if (files.length > limits.files) {
    throw refused(null, `has ${files.length} files; at most ${limits.files} are allowed`);
  }
  if (bytes > limits.totalBytes) {
    throw refused(null, `has ${bytes} bytes; at most ${limits.totalBytes} are allowed`);
  }
}

/** On a file system that ignores case, the second would replace the first unseen. */
function refuseTwins(files: readonly TreeEntry[]): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    const folded = path.normalize("NFC").toLowerCase();
    if (seen.has(folded)) throw refused(path, "occurs twice, with different upper and lower case");
    seen.add(folded);
  }
}

/** `path` is null for the skill as a whole. */
function refused(path: string | null, why: string): Problem {
  const subject = path === null ? "it" : JSON.stringify(path);
  return new Problem(
    "unsafe_skill",
    `the skill is refused: ${subject} ${why}`,
    "nothing was written; ask the skill's author",
  );
}

/** A skill of a repository. */
export interface FoundSkill {
  /** Name of the skill's directory; null for the repository's top. */
  readonly name: string | null;
  /** The directory's path with a slash at its end; empty for the top. */
  readonly prefix: string;
}

/** The public layout of Agent Skills: SKILL.md at the top, in `skills/<name>/`, `agents/<name>/`, or in `<name>/`. Sorted by name. */
export function findSkills(entries: readonly TreeEntry[]): FoundSkill[] {
  const skills = entries.flatMap(({ path }): FoundSkill[] => {
    const [match, prefix = "", name = null] = layout.exec(path) ?? [];
    return match === undefined || name?.startsWith(".") ? [] : [{ name, prefix }];
  });
  return skills.sort((a, b) => (a.name ?? "").localeCompare(b.name ?? ""));
}

const layout = /^((?:(?:skills|agents)\/)?([^/]+)\/|)SKILL\.md$/;
