import type {
  LeftOutFile,
  TreeEntry,
  TreeLimits,
  TreeUpload,
} from "../../foundation/contracts/file-tree.ts";

/**
 * The wire form of a tree, in both directions: for each entry a line of JSON with `path`, `bytes` and `isExecutable`, and
 * that many bytes. The last line is `{"end":true}`, with the files that were left out; a tree without it is cut and counts
 * for nothing. Links, devices and owners have no wire form.
 */
export async function* packFrames(
  _entries: AsyncIterable<TreeEntry>,
  _leftOut: () => readonly LeftOutFile[] = () => [],
): AsyncGenerator<Buffer> {
  throw new Error("not written yet");
}

/**
 * Reads a tree as its bytes arrive. Iteration throws a Problem at the first breach of a limit, and if the stream is cut. Of an
 * entry whose content was not read, the rest is skipped.
 */
export function readFrames(_stream: AsyncIterable<Buffer>, _limits: TreeLimits): TreeUpload {
  throw new Error("not written yet");
}
