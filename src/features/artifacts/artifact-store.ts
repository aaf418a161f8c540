import type { DatabaseSync } from "node:sqlite";
import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import type { FileKind } from "./file-kind.ts";

/**
 * `artifacts` has a row for each run that left files: `files` and `left_out` are JSON, `bytes` their total. `dropped` counts
 * files that were deleted because the project had too many.
 */
export const artifactTables: FeatureTables = {
  steps: [
    "",
    "",
    "",
    "",
    `CREATE TABLE artifacts (
      seq INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      instance_id TEXT NOT NULL UNIQUE,
      bytes INTEGER NOT NULL,
      files TEXT NOT NULL,
      left_out TEXT NOT NULL,
      dropped INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX artifacts_by_time ON artifacts (at, seq, bytes);`,
  ],
  growing: [{ table: "artifacts", batch: 10 }],
  blobs: "SELECT json_extract(value, '$.hash') FROM artifacts, json_each(files)",
};

/** A file that a run left in `out/`. */
export interface Artifact {
  readonly path: string;
  /** The SHA-256 of its stored content, hex. */
  readonly hash: string;
  readonly bytes: number;
  readonly kind: FileKind;
  readonly isExecutable: boolean;
}

/** Files that a run left and that are not stored. */
export interface LeftOut {
  /** The first ones; `bytes` is null for anything but a regular file. */
  readonly files: readonly {
    readonly path: string;
    readonly bytes: number | null;
    readonly why: string;
  }[];
  /** How many others there are. */
  readonly more: number;
}

export interface RunArtifacts {
  /** In the order of their paths. */
  readonly files: readonly Artifact[];
  readonly leftOut: LeftOut;
  /** How many files were deleted because the project had too many. */
  readonly dropped: number;
}

const none: RunArtifacts = { files: [], leftOut: { files: [], more: 0 }, dropped: 0 };

/** Reads and writes `artifacts`. */
export function createArtifactStore(db: DatabaseSync, { write }: GroupCommit) {
  const replace = db.prepare(
    "INSERT OR REPLACE INTO artifacts (at, instance_id, bytes, files, left_out) VALUES (?, ?, ?, ?, ?)",
  );
  const drop = db.prepare(
    `UPDATE artifacts SET dropped = json_array_length(files), files = '[]', bytes = 0 WHERE bytes > 0 AND seq IN
       (SELECT seq FROM (SELECT seq, sum(bytes) OVER (ORDER BY at DESC, seq DESC) AS total FROM artifacts)
        WHERE total > ?)`,
  );
  const find = db.prepare("SELECT files, left_out, dropped FROM artifacts WHERE instance_id = ?");
  const count = db.prepare(
    "SELECT json_array_length(files) AS files FROM artifacts WHERE instance_id = ?",
  );
  // A call that a waiting run took started no run.
  const called = db.prepare(
    `SELECT instance_id, state FROM triggers WHERE call_id = ? AND caller = ? AND started_at IS NOT NULL
     ORDER BY seq DESC LIMIT 1`,
  );
  return {
    /** Stores the files of a run, in place of earlier ones, and deletes those of the oldest runs above `most` bytes. */
    keep: (
      instanceId: string,
      at: number,
      { files, leftOut }: Pick<RunArtifacts, "files" | "leftOut">,
      most: number,
    ): Promise<void> =>
      write(() => {
        const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
        replace.run(at, instanceId, bytes, JSON.stringify(files), JSON.stringify(leftOut));
        drop.run(most);
      }),
    /** The files of a run; none for an unknown one. */
    of: (instanceId: string): RunArtifacts => {
      const row = find.get(instanceId);
      if (row === undefined) return none;
      return {
        files: JSON.parse(String(row.files)) as Artifact[],
        leftOut: JSON.parse(String(row.left_out)) as LeftOut,
        dropped: Number(row.dropped),
      };
    },
    count: (instanceId: string): number => Number(count.get(instanceId)?.files ?? 0),
    /** The latest run of a call that `caller` made; null without one. */
    calledRun: (callId: string, caller: string) => {
      const row = called.get(callId, caller);
      if (row === undefined) return null;
      return { instanceId: String(row.instance_id), isOver: row.state === "ended" };
    },
  };
}

export type ArtifactStore = ReturnType<typeof createArtifactStore>;
