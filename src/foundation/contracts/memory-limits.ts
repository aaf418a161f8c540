import type { MemoryLimits } from "../../../streams/agent-config.ts";
import type { TreeFile } from "./file-tree.ts";
import { bytesText } from "./format.ts";

/** Limits of every memory, beside those of its bytes: files and folders, names of a path, bytes of a name. */
export const memoryTreeLimits = { entries: 1_000, depth: 8, nameBytes: 255 } as const;

const mostNamed = 5;

/** Why files are over the limits of a memory, in sentences; empty if they are within them. `folder` is that of the memory. */
export function limitProblems(
  folder: string,
  files: readonly TreeFile[],
  { maxBytes, maxFileBytes }: MemoryLimits,
): readonly string[] {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const large = files.filter(({ bytes }) => bytes > maxFileBytes);
  return [
    ...(total > maxBytes
      ? [`${folder}/ has ${bytesText(total)}, of at most ${bytesText(maxBytes)}.`]
      : []),
    ...large
      .slice(0, mostNamed)
      .map(
        ({ path, bytes }) =>
          `${folder}/${path} has ${bytesText(bytes)}, of at most ${bytesText(maxFileBytes)} a file.`,
      ),
    ...(large.length > mostNamed ? [`${large.length - mostNamed} more files are too large.`] : []),
  ];
}
