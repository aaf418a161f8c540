import type { DatabaseSync } from "node:sqlite";
import { v7 as uuidV7 } from "uuid";
import type { MemoryConfig, UntrustedMode } from "../../../streams/agent-config.ts";
import { isUntrusted } from "../../../streams/triggers/trust.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import { createOrigins } from "../../foundation/store/origins.ts";
import { withJson } from "../../foundation/store/rows.ts";
import { openTriggers } from "../../foundation/store/trigger-rows.ts";
import type { MemoryFile } from "./memory.ts";
import { isSameTree } from "./rules/merge.ts";
import { prepareVersions } from "./versions.ts";

/** A memory as a live run has it. */
export interface MemoryOfRun {
  readonly name: string;
  /** The number of the version that the run received; 0 for an empty memory. */
  readonly base: number;
  readonly mayWrite: boolean;
}

interface Row extends Omit<MemoryOfRun, "mayWrite"> {
  readonly untrusted: UntrustedMode;
  readonly trusted: readonly string[];
  readonly files: readonly MemoryFile[] | null;
  readonly mayWrite: 0 | 1;
  readonly refused: string | null;
  readonly problem: string | null;
}

type Finished = Extract<RunEvent, { type: "finished" }>;

/** The files that a run sent. */
export interface Upload {
  /** Null if they did not all arrive. */
  readonly files: readonly MemoryFile[] | null;
  /** Why it must not be kept, in sentences; null if it may be. */
  readonly problem: string | null;
}

/** Reads and writes `memory_runs`, and decides at the end of a run what is kept. */
export function createMemoryRuns(db: DatabaseSync, { write, record }: GroupCommit) {
  const versions = prepareVersions(db);
  const origins = createOrigins(db);
  // A run that has ended must not begin again with a late request.
  const insert = db.prepare(
    `INSERT INTO memory_runs (instance_id, name, base, may_write, untrusted, trusted)
     SELECT :instanceId, :name, coalesce((SELECT max(n) FROM memory_versions WHERE name = :name), 0),
       :mayWrite, :untrusted, :trusted
     WHERE EXISTS (SELECT 1 FROM ${openTriggers} AND instance_id = :instanceId) ON CONFLICT DO NOTHING`,
  );
  const select = db.prepare(
    `SELECT name, base, may_write AS mayWrite, untrusted, trusted, files, refused, problem
     FROM memory_runs WHERE instance_id = ?`,
  );
  const remove = db.prepare("DELETE FROM memory_runs WHERE instance_id = ?");
  const upload = db.prepare(
    "UPDATE memory_runs SET files = ?, problem = ? WHERE instance_id = ? AND name = ? AND may_write = 1",
  );
  const refuse = db.prepare(
    "UPDATE memory_runs SET refused = ? WHERE instance_id = ? AND name = ?",
  );
  const propose = db.prepare(
    `INSERT INTO memory_proposals (id, at, name, agent, instance_id, base, files) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertNotKept = db.prepare(
    "INSERT INTO memory_not_kept (at, name, instance_id, reason, is_over) VALUES (?, ?, ?, ?, ?)",
  );
  const endNotKept = db.prepare(
    "UPDATE memory_not_kept SET is_over = 1 WHERE name = ? AND is_over = 0",
  );
  const rowsOf = (instanceId: string): readonly Row[] =>
    select.all(instanceId).map((row) => withJson<Row>(row, "trusted", "files"));
  const isUnchanged = ({ name, base, files }: Row): boolean =>
    files !== null && isSameTree(files, versions.filesOf(name, base));
  const modeOf = (instanceId: string, { untrusted, trusted }: Trust): UntrustedMode =>
    isUntrusted(origins.namesOf(instanceId), trusted) ? untrusted : "write";

  /** Why the files of a run that succeeded are not kept; null if they may be. */
  const problemOf = (row: Row, mode: UntrustedMode): string | null => {
    const own = row.refused ?? row.problem;
    if (own !== null) return own;
    if (mode === "read")
      return "A delivery to the run was not by people whom [memory].trusted lists.";
    // A run sends the files of a folder in which it received some, even if none is left.
    return row.files === null && row.base > 0 ? "The run did not send its files." : null;
  };
  const keep = (row: Row, event: Finished): void => {
    const { name, base, files } = row;
    const { at, instanceId } = event;
    const mode = modeOf(instanceId, row);
    const isSame = isUnchanged(row);
    const reason = isSame ? null : problemOf(row, mode);
    if (reason !== null) {
      // The reason has names of files: a stranger must not write into the prompt of a later run.
      return void insertNotKept.run(at, name, instanceId, reason, Number(mode !== "write"));
    }
    if (mode === "write") endNotKept.run(name);
    if (files === null || isSame) return;
    if (mode === "write") versions.merge({ name, base, files, instanceId, at, by: null });
    else propose.run(uuidV7(), at, name, event.agent, instanceId, base, JSON.stringify(files));
  };

  return {
    /** How the run's files are kept, as far as its deliveries are known. */
    modeOf,
    /** The memories of a run that has begun; none for another one. */
    of: (instanceId: string): readonly MemoryOfRun[] =>
      rowsOf(instanceId).map(({ name, base, mayWrite }) => {
        return { name, base, mayWrite: mayWrite === 1 };
      }),
    /** Records the latest versions as those that the run receives; repeated, it changes nothing. Waits for the store. */
    begin: (
      instanceId: string,
      memories: readonly Pick<MemoryOfRun, "name" | "mayWrite">[],
      { untrusted, trusted }: Trust,
    ): Promise<void> =>
      record(() => {
        const mode = { untrusted, trusted: JSON.stringify(trusted) };
        for (const { name, mayWrite } of memories)
          insert.run({ instanceId, name, mayWrite: Number(mayWrite), ...mode });
      }),
    /**
     * Stores what a run sent; replaces an earlier upload. Resolves to why it will not be kept, as far as that is known; null
     * for no reason.
     */
    upload: (instanceId: string, name: string, { files, problem }: Upload) =>
      write((): string | null => {
        const { changes } = upload.run(files && JSON.stringify(files), problem, instanceId, name);
        const row = rowsOf(instanceId).find((one) => one.name === name);
        if (changes === 0 || row === undefined) return endedText;
        return isUnchanged(row) ? null : (row.refused ?? problem);
      }),
    /** Stores why the run itself found that its files must not be kept. */
    refuse: (instanceId: string, name: string, reason: string): Promise<void> =>
      write(() => void refuse.run(reason, instanceId, name)),
    /** Writes what is kept of a run that has ended, inside the caller's transaction. */
    end: (event: Finished): void => {
      const rows = rowsOf(event.instanceId);
      if (rows.length === 0) return;
      if (event.end.outcome === "succeeded")
        for (const row of rows) if (row.mayWrite === 1) keep(row, event);
      remove.run(event.instanceId);
    },
  };
}

const endedText = "The run has ended, or may only read it.";

type Trust = Pick<MemoryConfig, "untrusted" | "trusted">;
