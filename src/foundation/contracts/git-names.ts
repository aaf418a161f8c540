import type { TreeLimits } from "./file-tree.ts";

/** The address of a repository. */
export interface GitAddress {
  readonly protocol: "https" | "ssh";
  /** With its port, if it has one. */
  readonly host: string;
  /** Path at the host, without `.git`. */
  readonly path: string;
}

const host = "(?<host>[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?)";
const login = "[A-Za-z0-9_][A-Za-z0-9_.-]*@";
const forms = [
  new RegExp(`^https://${host}/(?<path>.+)$`),
  new RegExp(`^ssh://(${login})?${host}/(?<path>.+)$`),
  // Without a port, as scp has it.
  new RegExp(`^${login}(?<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?<path>[^/].*)$`),
];
/** No name is `.` or `..`, or could be an option. */
const names = /^(?!\.\.?(\/|$)|-)[\w.~-]+(\/(?!\.\.?(\/|$)|-)[\w.~-]+)*$/;

/**
 * Parses `https://host/path`, `ssh://user@host/path` or `user@host:path`. Null for other addresses, and for one with a
 * password, an encoded character or a query.
 */
export function parseGitAddress(text: string): GitAddress | null {
  for (const form of forms) {
    const { host: at, path } = form.exec(text)?.groups ?? {};
    if (at === undefined || path === undefined) continue;
    if (!names.test(path) || text.length > 1000) return null;
    const protocol = text.startsWith("https:") ? "https" : "ssh";
    return { protocol, host: at, path: path.replace(/\.git$/, "") };
  }
  return null;
}

/** The longest ref, in UTF-8 bytes. */
const maxRefBytes = 250;

/** Why a text is not a ref or a commit for a checkout, for a person; null if it is (git-check-ref-format(1)). */
export function refProblem(ref: string): string | null {
  if (ref === "") return "is empty";
  if (Buffer.byteLength(ref) > maxRefBytes) return `is longer than ${maxRefBytes} bytes`;
  if (ref.startsWith("-")) return 'begins with "-"';
  if (/[\p{C}\p{Z}~^:?*[\\]/u.test(ref)) return "has a character that is not allowed in refs";
  const isOdd = /\.\.|@\{|\/\/|\.lock(\/|$)|(^|\/)\.|[/.]$|^\/|^@$/.test(ref);
  return isOdd ? "is not a ref by git's rules" : null;
}

/** A commit by its whole hash. */
export function isCommitHash(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** A change of one ref that a push requests. */
export interface RefChange {
  /** Full, such as `refs/heads/main`. */
  readonly ref: string;
  readonly isDeletion: boolean;
}

/** Whether `[workspace].push` allows a change: an entry names a branch, or with `refs/` a full ref; `:` allows deletion. */
export function mayPush({ ref, isDeletion }: RefChange, entries: readonly string[]): boolean {
  return entries.some((entry) => {
    if (entry.startsWith(":") !== isDeletion) return false;
    const name = entry.replace(/^:/, "");
    const full = name.startsWith("refs/") ? name : `refs/heads/${name}`;
    const literal = full.split("*").map((part) => part.replaceAll(/[^\w/-]/g, String.raw`\$&`));
    return new RegExp(`^${literal.join(".*")}$`).test(ref);
  });
}

/** Limits of the tree `workspace`: the `.git` folder of a checkout. */
export function gitFolderLimits(maxBytes: number): TreeLimits {
  return { bytes: 2 * maxBytes, fileBytes: maxBytes, entries: 32, depth: 4, nameBytes: 255 };
}
