import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { MemoryFile } from "../../../src/features/memory/memory.ts";
import type { CrashProject } from "./crash-project.ts";

interface Row {
  readonly run: string | null;
  readonly key: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly version: string | null;
  readonly artifacts: string | null;
  readonly notKept: string | null;
}

/** Notes of a run about itself. */
interface Note {
  readonly key: string;
  readonly hash: string;
  /** Paths that it removed from its memory. */
  readonly removed: readonly string[];
  /** Turns of the conversation before it. */
  readonly seen: readonly string[];
}

export function look({ dir }: CrashProject) {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { timeout: 5000 });
  const all = (sql: string) => db.prepare(sql).all() as unknown;
  const rows = all(
    `SELECT instance_id AS run, session AS key, state, outcome, memory_versions.files AS version, artifacts.files AS artifacts,
       memory_not_kept.reason AS notKept FROM triggers LEFT JOIN memory_versions USING (instance_id)
       LEFT JOIN artifacts USING (instance_id) LEFT JOIN memory_not_kept USING (instance_id) ORDER BY started_at`,
  ) as readonly Row[];
  const versions = all(
    "SELECT n, instance_id AS run, files FROM memory_versions ORDER BY n",
  ) as readonly { readonly n: number; readonly run: string; readonly files: string }[];
  const lists = all(
    "SELECT files FROM memory_versions UNION ALL SELECT files FROM sessions UNION ALL SELECT files FROM artifacts",
  ) as readonly { readonly files: string }[];
  return { rows, versions, blobs: lists.flatMap(({ files }) => filesIn(files)) };
}

const filesIn = (json: string): readonly MemoryFile[] => JSON.parse(json) as MemoryFile[];
const list = (text = "") => text.split(",").filter(Boolean);

export const blobPath = ({ dir }: CrashProject, hash: string): string =>
  join(dir, ".al", "blobs", hash.slice(0, 2), hash);

function notesOf({ marks }: CrashProject): ReadonlyMap<string, Note> {
  const lines = readFileSync(join(marks, "ran"), "utf8").split("\n").filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [run = "", key = "", hash = "", removed, seen] = line.split(" ");
      return [run, { key, hash, removed: list(removed), seen: list(seen) }];
    }),
  );
}

export interface Known {
  /** Runs that lived while the disk was full. */
  readonly excused: Set<string>;
  /** Runs whose version was there: the oldest of many versions are deleted. */
  readonly kept: Set<string>;
}

/** Lost, foreign and damaged files. */
export function wrongFiles(project: CrashProject, { excused, kept }: Known): readonly string[] {
  const { rows, versions, blobs } = look(project);
  const notes = notesOf(project);
  const succeeded = new Set(
    rows.flatMap(({ outcome, run }) => (outcome === "succeeded" ? run : [])),
  );
  const hashes = new Set(blobs.map(({ hash }) => hash));
  const damaged = [...hashes].filter((hash) => hash !== hashOf(blobPath(project, hash)));
  let before: readonly MemoryFile[] = [];
  const wrongVersions = versions.filter(({ run, files }) => {
    const note = notes.get(run);
    const now = new Map(filesIn(files).map(({ path, hash }) => [path, hash]));
    const lost = before.filter(
      ({ path, hash }) =>
        path !== "last" && now.get(path) !== hash && !note?.removed.includes(path),
    );
    before = filesIn(files);
    const own = [`last.conflict-${run}`, "last"].find((path) => now.get(path) === note?.hash);
    const isOwn = own !== undefined && now.get(`runs/${run}`) === note?.hash;
    return lost.length > 0 || !isOwn || !succeeded.has(run);
  });
  for (const { run } of versions) kept.add(run);
  const hasAll = versions[0]?.n === 1;
  const wrongRows = rows.filter(({ run, outcome, version, artifacts, notKept }) => {
    if (outcome !== "succeeded" || run === null || (!hasAll && kept.has(run))) return false;
    const report = filesIn(artifacts ?? "[]").find(({ path }) => path === "report");
    const isWhole = version !== null && notKept === null && report?.hash === notes.get(run)?.hash;
    return !isWhole && !(excused.has(run) && (version !== null) !== (notKept !== null));
  });
  return [
    ...damaged.map((hash) => `damaged: ${hash}`),
    ...wrongVersions.map(
      ({ n, run }) => `version ${n} of ${run}: ${JSON.stringify(notes.get(run))}`,
    ),
    ...wrongRows.map((row) => `run: ${JSON.stringify({ ...row, version: row.version?.length })}`),
    ...wrongTurns(rows, notes, excused),
  ];
}

/** Conversations that lack a turn, or have one of another key, twice, or of a run that is tried again. */
function wrongTurns(
  rows: readonly Row[],
  notes: ReadonlyMap<string, Note>,
  excused: ReadonlySet<string>,
): readonly string[] {
  const before = new Map<string, string[]>();
  return rows.flatMap(({ run, key, outcome }) => {
    const note = notes.get(run ?? "");
    if (run === null || note === undefined) return [];
    const turns = before.get(key) ?? [];
    const known = turns.filter((turn) => note.seen.includes(turn) || !excused.has(turn));
    if (outcome !== "lost") before.set(key, [...turns, run]);
    const isRight = key.endsWith(`#${note.key}`) && known.join() === note.seen.join();
    return isRight ? [] : [`${run} of ${key} saw ${note.seen.join()}, not ${known.join()}`];
  });
}

function hashOf(path: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return null;
  }
}
