import type { DatabaseSync } from "node:sqlite";
import type { Person } from "../../foundation/contracts/questions.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";

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
  /** Who restored it, or allowed it as a proposal; null for a version of a trusted run. */
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
  /** The version that the run got; 0 for an empty memory. */
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

/** Reads and writes the memories of a project. Contents are blobs: `blobs.read(hash)`. */
export declare function createMemoryStore(
  db: DatabaseSync,
  commits: GroupCommit,
  now: () => number,
): {
  /** All memories with a version or an open proposal, by name, also those of removed agents. */
  readonly all: () => readonly MemorySummary[];
  /** The latest first, at most `limit` (100), of those before version `before`. */
  readonly versions: (
    name: string,
    page?: { readonly before?: number; readonly limit?: number },
  ) => readonly MemoryVersion[];
  readonly version: (name: string, n: number) => MemoryVersion | null;
  /** The latest version; null before the first. */
  readonly head: (name: string) => MemoryVersion | null;
  /** The files of a version, by default the latest; empty for version 0, and for an unknown one. */
  readonly files: (name: string, n?: number) => readonly MemoryFile[];
  /** The versions that a run wrote, and the proposals that its trees became. */
  readonly ofRun: (instanceId: string) => {
    readonly versions: readonly MemoryVersion[];
    readonly proposals: readonly MemoryProposal[];
    readonly notKept: readonly NotKept[];
  };
  /**
   * Makes a new version with the files of an earlier one, 0 for an empty one; resolves to the latest version, which is the
   * one before if nothing changed. Rejects with Problem `unknown_version`.
   */
  readonly restore: (name: string, n: number, by: Person) => Promise<MemoryVersion>;
  /** The open ones, of one memory or of all, the oldest first. */
  readonly proposals: (name?: string) => readonly MemoryProposal[];
  readonly proposal: (id: string) => MemoryProposal | null;
  /**
   * Decides an open proposal; an allowed one is merged into the latest version. Rejects with Problem `unknown_proposal`, or
   * `already_decided`.
   */
  readonly decide: (id: string, allow: boolean, by: Person) => Promise<MemoryProposal>;
};

export type MemoryStore = ReturnType<typeof createMemoryStore>;
