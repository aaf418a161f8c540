import type { DatabaseSync } from "node:sqlite";
import { withJson } from "../../foundation/store/rows.ts";
import type { MemoryFile, MemoryVersion } from "./memory.ts";
import { isOldVersion } from "./memory-tables.ts";
import { isSameTree, mergeTrees } from "./rules/merge.ts";

const columns = `name, n, at, instance_id AS instanceId, person AS by, files, conflicts`;

/** How many versions of a memory are stored, whatever their age. */
const mostVersions = 500;

/** The files of a run, or of a proposal. */
interface Change extends Omit<MemoryVersion, "n" | "conflicts" | "instanceId"> {
  readonly instanceId: string;
  /** The number of the version that the run received. */
  readonly base: number;
}

/** Reads and writes `memory_versions`, inside the caller's transaction. */
export function prepareVersions(db: DatabaseSync) {
  const latest = db.prepare(
    `SELECT ${columns} FROM memory_versions WHERE name = ? ORDER BY n DESC LIMIT 1`,
  );
  const byNumber = db.prepare(`SELECT ${columns} FROM memory_versions WHERE name = ? AND n = ?`);
  const page = db.prepare(
    `SELECT ${columns} FROM memory_versions WHERE name = ? AND n < ? ORDER BY n DESC LIMIT ?`,
  );
  const byRun = db.prepare(
    `SELECT ${columns} FROM memory_versions WHERE instance_id = ? ORDER BY seq`,
  );
  const insert = db.prepare(
    "INSERT INTO memory_versions (name, n, at, instance_id, person, files, conflicts) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const dropOld = db.prepare(
    `DELETE FROM memory_versions WHERE name = ? AND n <= ? AND ${isOldVersion}`,
  );

  const head = (name: string): MemoryVersion | null => versionOf(latest.get(name));
  const find = (name: string, n: number): MemoryVersion | null => versionOf(byNumber.get(name, n));
  const filesOf = (name: string, n?: number): readonly MemoryFile[] =>
    (n === undefined ? head(name) : find(name, n))?.files ?? [];
  const add = (version: Omit<MemoryVersion, "n">): MemoryVersion => {
    const { name, at, instanceId, by, files, conflicts } = version;
    const n = (head(name)?.n ?? 0) + 1;
    const person = by && JSON.stringify(by);
    insert.run(name, n, at, instanceId, person, JSON.stringify(files), JSON.stringify(conflicts));
    dropOld.run(name, n - mostVersions);
    return { ...version, n };
  };
  return {
    head,
    find,
    filesOf,
    page: (name: string, before: number, limit: number): readonly MemoryVersion[] =>
      page.all(name, before, limit).flatMap((row) => versionOf(row) ?? []),
    ofRun: (instanceId: string): readonly MemoryVersion[] =>
      byRun.all(instanceId).flatMap((row) => versionOf(row) ?? []),
    add,
    /** Merges files into the latest version; null if that changes nothing. */
    merge: ({ base, ...change }: Change): MemoryVersion | null => {
      const { name, instanceId } = change;
      const last = head(name);
      const now = last?.files ?? [];
      const sides = { base: filesOf(name, base), head: now, run: change.files };
      const { files, conflicts } = mergeTrees(sides, instanceId);
      if (isSameTree(files, now)) return null;
      const paths = new Set(files.map(({ path }) => path));
      const earlier = (last?.conflicts ?? []).filter((path) => paths.has(path));
      return add({ ...change, files, conflicts: [...earlier, ...conflicts].sort() });
    },
  };
}

function versionOf(row: unknown): MemoryVersion | null {
  return row === undefined ? null : withJson<MemoryVersion>(row, "by", "files", "conflicts");
}
