import { Problem } from "../../foundation/errors.ts";

/** A file of a commit. */
export interface TreeEntry {
  /** The path from the repository's top, unchecked: not to be trusted. */
  readonly path: string;
  readonly kind: "file" | "executable" | "link" | "submodule";
  /** The hash of its content, in hex. */
  readonly id: string;
  /** In bytes; 0 for a submodule. */
  readonly size: number;
}

const kinds: Readonly<Record<string, TreeEntry["kind"]>> = {
  "100644": "file",
  "100664": "file",
  "100755": "executable",
  "120000": "link",
  "160000": "submodule",
};

/** Parses the output of `git ls-tree -r -l -z`. */
export function parseTree(output: Buffer): TreeEntry[] {
  const lines = output
    .toString("utf8")
    .split("\0")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const [, mode = "", id = "", size = "", path = ""] =
      /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t([^]+)$/.exec(line) ?? [];
    const kind = kinds[mode];
    if (kind === undefined) throw damaged(`a file of the mode ${mode}`);
    return { path, kind, id, size: size === "-" ? 0 : Number(size) };
  });
}

/** Parses the output of `git cat-file --batch` for that many files: `<id> blob <size>`, the bytes, a line break. */
export function parseBlobs(output: Buffer, count: number): Buffer[] {
  const blobs: Buffer[] = [];
  let at = 0;
  while (blobs.length < count) {
    const end = output.indexOf(10, at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(output.toString("utf8", at, end)) ?? [];
    if (size === undefined) throw damaged("a missing file");
    const start = end + 1;
    blobs.push(output.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return blobs;
}

function damaged(part: string): Problem {
  return new Problem(
    "git_failed",
    `the repository has ${part}`,
    "git fsck in a clone may show more",
  );
}
