import { createHash } from "node:crypto";

/** The change of a skill's file since it was installed. */
export interface FileChange {
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
  /** True if the agent's own file was edited, so that taking the new one would lose work. */
  readonly isLocal: boolean;
}

/** Paths to content ids. A path that isn't there has no file. */
export type Contents = ReadonlyMap<string, string>;

/** A path that is not a regular file; it never equals another. */
export const notAFile = "not a file";

/**
 * Compares three versions of a skill's files: as installed (null when that is not known any more), as the source has
 * them, and as the agent has them. Reports files that changed at the source and differ from the agent's.
 */
export function compareFiles(base: Contents | null, next: Contents, local: Contents): FileChange[] {
  const paths = new Set([...(base?.keys() ?? []), ...next.keys()]);
  return [...paths].sort().flatMap((path): FileChange[] => {
    const [was, will, is] = [base?.get(path), next.get(path), local.get(path)];
    if (will === is || (base !== null && was === will)) return [];
    const kind = will === undefined ? "removed" : is === undefined ? "added" : "changed";
    // Without a base, a missing file can only be new.
    return [{ path, kind, isLocal: is !== was && !(base === null && is === undefined) }];
  });
}

/** Git's id of a content: 40 characters by SHA-1 or 64 by SHA-256, as in the repository. */
export function contentId(content: Uint8Array, length: number): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${content.byteLength}\0`).update(content).digest("hex");
}
