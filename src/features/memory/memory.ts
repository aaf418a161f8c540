import type { Person } from "../../foundation/contracts/questions.ts";
import { Problem } from "../../foundation/errors.ts";

/** A file of a memory. */
export interface MemoryFile {
  readonly path: string;
  /** SHA-256 of the content, hex: its blob. */
  readonly hash: string;
  readonly bytes: number;
  readonly isExecutable: boolean;
}

/** A version of a memory, which never changes. */
export interface MemoryVersion {
  /** `<agent>`, or `shared/<name>`. */
  readonly name: string;
  /** 1, 2, … */
  readonly n: number;
  /** Epoch ms. */
  readonly at: number;
  /** The run that wrote it; null for a restored version. */
  readonly instanceId: string | null;
  /** Who restored it, or allowed it as a proposal; null for a version that no person decided on. */
  readonly by: Person | null;
  /** In the order of their paths. */
  readonly files: readonly MemoryFile[];
  /** Paths of the conflict files in it. */
  readonly conflicts: readonly string[];
}

/** A memory as it is now. */
export interface MemorySummary {
  readonly name: string;
  /** The number of its latest version; 0 before the first. */
  readonly n: number;
  /** Epoch ms; null before the first version. */
  readonly at: number | null;
  readonly files: number;
  readonly bytes: number;
  /** How many proposals are open. */
  readonly proposals: number;
}

/** The tree of an untrusted run, which a person may allow. */
export interface MemoryProposal {
  /** UUID v7. */
  readonly id: string;
  readonly name: string;
  /** When its run ended, epoch ms. */
  readonly at: number;
  readonly agent: string;
  readonly instanceId: string;
  /** The version that the run received; 0 for an empty memory. */
  readonly base: number;
  readonly files: readonly MemoryFile[];
  readonly state: "open" | "allowed" | "denied";
  /** Epoch ms; null while it is open. */
  readonly decidedAt: number | null;
  readonly by: Person | null;
  /** The version that it became; null unless it was allowed, and if it changed nothing. */
  readonly version: number | null;
}

/** Why the tree of a run that succeeded was not kept. */
export interface NotKept {
  readonly name: string;
  readonly instanceId: string;
  /** Epoch ms. */
  readonly at: number;
  /** A sentence for a person. */
  readonly reason: string;
}

/** The name of an agent's or a shared memory by the name of its tree. */
export function memoryOfTree(tree: string, agent: string): string {
  return tree === "memory" ? agent : tree;
}

/** Bytes of all files. */
export function totalBytes(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function unknownVersion(name: string, n: number): Problem {
  const hint = "`al memory log` lists its versions.";
  return new Problem("unknown_version", `the memory "${name}" has no version ${n}`, hint);
}
