import { inOneCase, maxPathBytes } from "../../../foundation/contracts/file-tree.ts";

/** The part of a file that a merge compares. */
interface Compared {
  readonly path: string;
  readonly hash: string;
  readonly isExecutable: boolean;
}

/** The files that a run received, the latest version, and the files that the run left. */
interface Sides<F extends Compared> {
  readonly base: readonly F[];
  readonly head: readonly F[];
  readonly run: readonly F[];
}

interface Merged<F> {
  /** In the order of their paths. */
  readonly files: readonly F[];
  /** Paths of the conflict files that the merge made. */
  readonly conflicts: readonly string[];
}

/**
 * Merges the files of a run into the latest version, file by file. A file that both changed, in different ways, keeps the
 * latest version's content, or stays deleted; the run's file is added as `<name>.conflict-<instance>`. So is a file whose
 * path can't be beside the others: it differs from theirs in case only, or is a folder there.
 */
export function mergeTrees<F extends Compared>(
  { base, head, run }: Sides<F>,
  instanceId: string,
): Merged<F> {
  const [ofBase, ofHead, ofRun] = [byPath(base), byPath(head), byPath(run)];
  const isSame = (path: string, one: Files<F>, other: Files<F>) =>
    isSameFile(one.get(path), other.get(path));
  // A file that the run deleted while it was changed stays, as the change would be lost.
  const kept = head.filter(
    ({ path }) => !isSame(path, ofBase, ofHead) || isSame(path, ofBase, ofRun),
  );
  const changed = run.filter(
    ({ path }) => !isSame(path, ofBase, ofRun) && !isSame(path, ofHead, ofRun),
  );
  const places = createPlaces(instanceId);
  const files = [...kept];
  for (const { path } of kept) places.add(path);
  const fits = ({ path }: F) => isSame(path, ofBase, ofHead) && places.clash(path) === null;
  const [own, beside] = [changed.filter(fits), changed.filter((file) => !fits(file))];
  for (const { path } of own) places.add(path);
  const moved = sorted(beside).map((file) => ({ ...file, path: places.beside(file.path) }));
  return {
    files: sorted([...files, ...own, ...moved]),
    conflicts: moved.map(({ path }) => path).sort(),
  };
}

/** Whether two trees have the same files. */
export function isSameTree(one: readonly Compared[], other: readonly Compared[]): boolean {
  if (one.length !== other.length) return false;
  const files = byPath(other);
  return one.every((file) => isSameFile(file, files.get(file.path)));
}

type Files<F> = ReadonlyMap<string, F>;

function byPath<F extends Compared>(files: readonly F[]): Files<F> {
  return new Map(files.map((file) => [file.path, file]));
}

/** Whether two files have the same content and mode, or both are absent. */
export function isSameFile(one: Compared | undefined, other: Compared | undefined): boolean {
  return one?.hash === other?.hash && one?.isExecutable === other?.isExecutable;
}

/** In the order of the paths' UTF-16 code units, as a run sends them. */
function sorted<F extends Compared>(files: readonly F[]): readonly F[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The paths of a tree, with their folders. */
function createPlaces(instanceId: string) {
  const taken = new Map<string, { readonly spelling: string; readonly isFile: boolean }>();
  const prefixes = (path: string): readonly string[] => {
    const names = path.split("/");
    return names.map((_, at) => names.slice(0, at + 1).join("/"));
  };
  /** Which name of the path can't be there, from 0; null for a free path. */
  const clash = (path: string): number | null => {
    const all = prefixes(path);
    const at = all.findIndex((prefix, index) => {
      const found = taken.get(inOneCase(prefix));
      if (found === undefined) return false;
      return index === all.length - 1 || found.isFile || found.spelling !== prefix;
    });
    return at === -1 ? null : at;
  };
  const add = (path: string): void => {
    const all = prefixes(path);
    for (const [at, prefix] of all.entries())
      taken.set(inOneCase(prefix), { spelling: prefix, isFile: at === all.length - 1 });
  };
  return {
    clash,
    add,
    /** The path of a conflict file, which is then taken. */
    beside: (path: string): string => {
      const names = path.split("/");
      const at = clash(path) ?? names.length - 1;
      for (let n = 1; ; n += 1) {
        const end = `.conflict-${instanceId}${n === 1 ? "" : `-${n}`}`;
        const renamed = names.with(at, shortened(names[at] ?? "", end)).join("/");
        const isLong = bytesOf(renamed) > maxPathBytes;
        const candidate = isLong ? shortened(names.at(-1) ?? "", end) : renamed;
        if (clash(candidate) !== null) continue;
        add(candidate);
        return candidate;
      }
    },
  };
}

/** The longest name of a file system, in bytes. */
const maxNameBytes = 255;

function shortened(name: string, end: string): string {
  const room = maxNameBytes - bytesOf(end);
  let text = "";
  let bytes = 0;
  for (const character of name) {
    bytes += bytesOf(character);
    if (bytes > room) break;
    text += character;
  }
  return `${text}${end}`;
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
