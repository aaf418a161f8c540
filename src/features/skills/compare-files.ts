import { createHash } from "node:crypto";

/** What a skill's file became since it was installed. */
export interface FileChange {
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
  /** True when the agent's own file isn't what was installed any more, so that taking the new one would lose work. */
  readonly isLocal: boolean;
}

/** Paths to content ids. A path that isn't there has no file. */
export type Contents = ReadonlyMap<string, string>;

/** Stands for what is there and is not a plain file: equal to nothing. */
export const notAFile = "not a file";

/**
 * Compares three versions of a skill's files: as installed (null when that is not known any more), as the source has
 * them, and as the agent has them. Only what differs between source and agent, and changed at the source, is reported.
 */
export function compareFiles(base: Contents | null, next: Contents, local: Contents): FileChange[] {
  const paths = new Set([...(base?.keys() ?? []), ...next.keys()]);
  return [...paths].sort().flatMap((path): FileChange[] => {
    const [was, will, is] = [base?.get(path), next.get(path), local.get(path)];
    if (will === is || (base !== null && was === will)) return [];
    const kind = will === undefined ? "removed" : is === undefined ? "added" : "changed";
    // Without a base, what is not there can only be new.
    return [{ path, kind, isLocal: is !== was && !(base === null && is === undefined) }];
  });
}

/** The id that git gives a content: 40 characters by SHA-1, 64 by SHA-256, as the repository has it. */
export function contentId(content: Uint8Array, length: number): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${content.byteLength}\0`).update(content).digest("hex");
}
