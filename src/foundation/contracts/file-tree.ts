/** Limits of a tree: a named set of files that enters or leaves a run. */
export interface TreeLimits {
  /** Total of all files. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Files and folders together. */
  readonly entries: number;
  /** Names in a path: 1 for a file at the top. */
  readonly depth: number;
  /** UTF-8 bytes of one name. */
  readonly nameBytes: number;
}

/** A file of a tree, without its content. Folders exist by their files. */
export interface TreeFile {
  /** Relative, separated by `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly isExecutable: boolean;
}

/** A file of a tree with its content, which is read once, before the next entry is requested. */
export interface TreeEntry extends TreeFile {
  readonly content: AsyncIterable<Buffer>;
}

export type TreeEntries = Iterable<TreeEntry> | AsyncIterable<TreeEntry>;

/** A file that a run left out of a tree: it did not fit, is not a regular file, or changed while it was read. */
export interface LeftOutFile {
  readonly path: string;
  /** For a person, without a full stop. */
  readonly why: string;
  /** Absent for what is not a regular file. */
  readonly bytes?: number | undefined;
}

/** How many of the files that were left out are named. */
export const maxLeftOut = 100;

/** The entries that a run sends, in the order of their paths. */
export interface TreeUpload extends AsyncIterable<TreeEntry> {
  /** The first `maxLeftOut` files that the run left out; known after the last entry. */
  readonly leftOut: () => readonly LeftOutFile[];
  /** How many others the run left out; absent for none. */
  readonly more?: () => number;
}

/** The longest path, in UTF-8 bytes. */
export const maxPathBytes = 1024;

/** Control characters break log lines and terminals; Windows and shells read a backslash in their own ways. */
const refusedCharacter = /[\u0000-\u001f\u007f-\u009f\\]/;

/** Why a path can't be in a tree, for a person; null if it can. */
export function pathProblem(path: string, limits: TreeLimits): string | null {
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  if (path.startsWith("/")) return "is absolute";
  if (refusedCharacter.test(path)) return "has a control character or a backslash";
  if (!path.isWellFormed()) return "is not valid Unicode";
  if (path !== path.normalize("NFC")) return "is not in Unicode's normal form NFC";
  const names = path.split("/");
  if (names.length > limits.depth) return `is deeper than ${limits.depth} names`;
  if (names.includes("")) return "has an empty name";
  if (names.includes(".") || names.includes("..")) return 'has a name "." or ".."';
  const isLong = (name: string) => Buffer.byteLength(name) > limits.nameBytes;
  return names.some(isLong) ? `has a name longer than ${limits.nameBytes} bytes` : null;
}

/** The paths of one tree: files and folders, at most `limits.entries`. */
export function createTreePaths({ entries }: Pick<TreeLimits, "entries">) {
  const known = new Map<string, { readonly path: string; readonly isFolder: boolean }>();
  const addOne = (key: string, path: string, isFolder: boolean): string | null => {
    const found = known.get(key);
    if (found === undefined) {
      if (known.size >= entries)
        return `is one too many: ${entries} files and folders are the most`;
      known.set(key, { path, isFolder });
      return null;
    }
    if (found.path !== path) return `differs from ${JSON.stringify(found.path)} in case only`;
    if (found.isFolder !== isFolder) return "is a file and a folder";
    return isFolder ? null : "is there twice";
  };
  return {
    /** Adds the path of a file. Why it can't stand beside those before, for a person; null if it can. */
    add: (path: string): string | null => {
      const names = path.split("/");
      let key = "";
      let end = -1;
      for (const [index, name] of names.entries()) {
        key += `/${inOneCase(name)}`;
        end += name.length + 1;
        const problem = addOne(key, path.slice(0, end), index < names.length - 1);
        if (problem !== null) return problem;
      }
      return null;
    },
  };
}

/** Names that a file system without cases takes for one have the same form. */
export function inOneCase(name: string): string {
  return name.toUpperCase().toLowerCase().normalize("NFC");
}

/** The folder of a run whose files are kept, and the name of its tree. */
export const outFolder = "out";
/** Limits of that tree beside its size; both sides of a run's socket use them. */
export const artifactShape = { entries: 4_000, depth: 16, nameBytes: 255 } as const;
