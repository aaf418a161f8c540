import type { DatabaseSync } from "node:sqlite";
import type { Person } from "../../foundation/contracts/questions.ts";
import { Problem } from "../../foundation/errors.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import { withJson } from "../../foundation/store/rows.ts";
import { unknownVersion } from "./memory.ts";
import type {
  MemoryFile,
  MemoryProposal,
  MemorySummary,
  MemoryVersion,
  NotKept,
} from "./memory.ts";
import { isSameTree } from "./rules/merge.ts";
import { prepareVersions } from "./versions.ts";

const proposalColumns = `id, name, at, agent, instance_id AS instanceId, base, files, state, decided_at AS decidedAt,
  person AS by, version`;
const notKeptColumns = "name, instance_id AS instanceId, at, reason";
const mostDecided = 200;

interface VersionPage {
  /** Only versions before this one. */
  readonly before?: number;
  /** 100 if absent. */
  readonly limit?: number;
}

/**
 * Reads and writes the memories of a project for people, by `<agent>` or `shared/<name>`. Contents are blobs:
 * `blobs.read(hash)`.
 */
export function createMemoryStore(
  db: DatabaseSync,
  { write }: GroupCommit,
  now: () => number = Date.now,
) {
  const versions = prepareVersions(db);
  const summaries = db.prepare(
    `WITH heads AS (SELECT name, max(n) AS n FROM memory_versions GROUP BY name),
       open AS (SELECT name, count(*) AS count FROM memory_proposals WHERE state = 'open' GROUP BY name),
       names AS (SELECT name FROM heads UNION SELECT name FROM open)
     SELECT names.name, coalesce(heads.n, 0) AS n, at, coalesce(json_array_length(files), 0) AS files,
       coalesce((SELECT sum(value ->> '$.bytes') FROM json_each(files)), 0) AS bytes,
       coalesce(open.count, 0) AS proposals
     FROM names LEFT JOIN heads USING (name) LEFT JOIN open USING (name)
       LEFT JOIN memory_versions ON memory_versions.name = names.name AND memory_versions.n = heads.n
     ORDER BY names.name`,
  );
  const proposal = db.prepare(`SELECT ${proposalColumns} FROM memory_proposals WHERE id = ?`);
  const open = db.prepare(
    `SELECT ${proposalColumns} FROM memory_proposals
     WHERE state = 'open' AND (:name IS NULL OR name = :name) ORDER BY seq`,
  );
  const countOpen = db.prepare(
    "SELECT count(*) AS count FROM memory_proposals WHERE state = 'open'",
  );
  const decided = db.prepare(
    `SELECT ${proposalColumns} FROM memory_proposals
     WHERE state <> 'open' AND (:name IS NULL OR name = :name) ORDER BY seq DESC LIMIT ${mostDecided}`,
  );
  const ofRun = db.prepare(
    `SELECT ${proposalColumns} FROM memory_proposals WHERE instance_id = ? ORDER BY seq`,
  );
  const settle = db.prepare(
    "UPDATE memory_proposals SET state = ?, decided_at = ?, person = ?, version = ? WHERE id = ?",
  );
  const notKept = db.prepare(
    `SELECT ${notKeptColumns} FROM memory_not_kept WHERE instance_id = ? ORDER BY seq`,
  );
  const lastNotKept = db.prepare(
    `SELECT ${notKeptColumns} FROM memory_not_kept WHERE name = ? AND is_over = 0 ORDER BY seq DESC LIMIT 1`,
  );
  const find = (id: string): MemoryProposal | null => proposalOf(proposal.get(id));

  const restore = (name: string, n: number, by: Person): MemoryVersion => {
    const head = versions.head(name);
    const target = n === 0 ? emptied : versions.find(name, n);
    if (head === null || target === null) throw unknownVersion(name, n);
    if (isSameTree(head.files, target.files)) return head;
    const { files, conflicts } = target;
    return versions.add({ name, at: now(), instanceId: null, by, files, conflicts });
  };

  const decide = (id: string, allow: boolean, by: Person): MemoryProposal => {
    const given = find(id);
    if (given === null) throw new Problem("unknown_proposal", `no proposal "${id}"`);
    if (given.state !== "open") throw decidedBefore(given);
    const { name, base, files, instanceId } = given;
    const at = now();
    const version = allow ? versions.merge({ name, base, files, instanceId, at, by }) : null;
    const state = allow ? "allowed" : "denied";
    settle.run(state, at, JSON.stringify(by), version?.n ?? null, id);
    return { ...given, state, decidedAt: at, by, version: version?.n ?? null };
  };

  return {
    /** All memories with a version or an open proposal, by name, also those of removed agents. */
    all: (): readonly MemorySummary[] =>
      (summaries.all() as unknown as readonly MemorySummary[]).map((row) => ({ ...row })),
    /** The latest first. */
    versions: (
      name: string,
      { before = Number.MAX_SAFE_INTEGER, limit = 100 }: VersionPage = {},
    ): readonly MemoryVersion[] => versions.page(name, before, limit),
    version: versions.find,
    /** The latest version; null before the first. */
    head: versions.head,
    /** The files of a version, by default the latest; empty for version 0, and for an unknown one. */
    files: (name: string, n?: number): readonly MemoryFile[] => versions.filesOf(name, n),
    /** Versions and proposals that the files of a run became; known once its end is committed. */
    ofRun: (instanceId: string) => ({
      versions: versions.ofRun(instanceId),
      proposals: ofRun.all(instanceId).flatMap((row) => proposalOf(row) ?? []),
      notKept: notKept.all(instanceId).map((row) => ({ ...row }) as unknown as NotKept),
    }),
    /** Why the files of the latest trusted run were not kept; null if they were. */
    lastNotKept: (name: string): NotKept | null => {
      const found = lastNotKept.get(name) as unknown as NotKept | undefined;
      return found === undefined ? null : { ...found };
    },
    /**
     * Makes a new version with the files of an earlier one, none for 0; resolves to the latest version, which is the one
     * before if nothing changed. Rejects with Problem `unknown_version`.
     */
    restore: (name: string, n: number, by: Person) => write(() => restore(name, n, by)),
    /** The open ones, the oldest first; or else the latest decided ones. Of one memory, or of all. */
    proposals: (name: string | null = null, isOpen = true): readonly MemoryProposal[] =>
      (isOpen ? open : decided).all({ name }).flatMap((row) => proposalOf(row) ?? []),
    proposal: find,
    /** How many proposals are open, of all memories. */
    openProposals: () => Number(countOpen.get()?.count),
    /**
     * Decides an open proposal; an allowed one is merged into the latest version. Rejects with Problem `unknown_proposal`, or
     * `answered` if it was decided before.
     */
    decide: (id: string, allow: boolean, by: Person) => write(() => decide(id, allow, by)),
  };
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;

const emptied = { files: [], conflicts: [] };

function proposalOf(row: unknown): MemoryProposal | null {
  return row === undefined ? null : withJson<MemoryProposal>(row, "files", "by");
}

function decidedBefore({ id, state }: MemoryProposal): Problem {
  return new Problem("answered", `the proposal ${id} was ${state} before`);
}
