import type { DatabaseSync } from "node:sqlite";
import { triggerKinds } from "../../../streams/vocabulary.ts";
import type { Trigger } from "../../../streams/vocabulary.ts";
import type { HistoryEntry } from "../contracts/history.ts";
import type { GitState, RunContent } from "../contracts/run-version.ts";
import { entryColumns, entryOf } from "./history-rows.ts";
import type { EntryRow } from "./history-rows.ts";
import { prepareContents } from "./run-contents.ts";

/** A run as it is stored. */
export interface StoredRun {
  readonly entry: HistoryEntry;
  /** What it returned, whole; null for nothing. */
  readonly value: unknown;
  readonly trigger: Trigger | null;
  readonly git: GitState | null;
}

interface RunRow extends EntryRow {
  readonly wholeValue: string | null;
  readonly trigger: string | null;
  readonly gitCommit: string | null;
  readonly gitDirty: number | null;
}

const mostCalls = 500;
/** Work that another run took, as it waited for it, has that run's instance and is no run. */
const isRun = "(started_at IS NOT NULL OR version IS NOT NULL OR outcome = 'rejected')";

/** Reads single runs. Throws the store's errors. */
export function createRuns(db: DatabaseSync) {
  const select = db.prepare(
    `SELECT ${entryColumns}, value AS wholeValue, trigger, git_commit AS gitCommit, git_dirty AS gitDirty
     FROM triggers WHERE instance_id = ? AND ${isRun} ORDER BY seq LIMIT 1`,
  );
  const selectMade = db.prepare(
    `SELECT ${entryColumns} FROM triggers WHERE caller = ? ORDER BY seq LIMIT ${mostCalls}`,
  );
  // A class is a range of one index, in the order of time: one row is read of each.
  const selectBefore = db.prepare(
    `SELECT instance_id AS instanceId, at, seq FROM triggers INDEXED BY triggers_by_agent_class
     WHERE agent = ? AND class = ? AND started_at IS NOT NULL AND (at, seq) < (?, ?)
     ORDER BY at DESC, seq DESC LIMIT 1`,
  );
  const placeOf = db.prepare(
    `SELECT agent, at, seq FROM triggers WHERE instance_id = ? AND ${isRun} ORDER BY seq LIMIT 1`,
  );
  const contents = prepareContents(db);
  return {
    /** Undefined when there is none, or retention deleted it. */
    find: (instanceId: string): StoredRun | undefined => {
      const row = select.get(instanceId) as unknown as RunRow | undefined;
      return row && runOf(row);
    },
    /** The calls that a run made, oldest first. */
    callsOf: (instanceId: string): readonly HistoryEntry[] =>
      (selectMade.all(instanceId) as unknown as EntryRow[]).map(entryOf),
    /** The latest run of the same agent that succeeded, of those whose triggers are older; null for none. */
    succeededBefore: (instanceId: string): string | null => {
      const place = placeOf.get(instanceId) as unknown as Place | undefined;
      if (place === undefined) return null;
      const found = triggerKinds
        .map((kind) => selectBefore.get(place.agent, `${kind}/succeeded/0`, place.at, place.seq))
        .filter((row) => row !== undefined)
        .map((row) => row as unknown as Found);
      return found.sort((a, b) => b.at - a.at || b.seq - a.seq)[0]?.instanceId ?? null;
    },
    /** What a run ran; undefined when it is not stored. */
    content: (hash: string): RunContent | undefined => contents.find(hash),
  };
}

interface Place {
  readonly agent: string;
  readonly at: number;
  readonly seq: number;
}

interface Found extends Omit<Place, "agent"> {
  readonly instanceId: string;
}

function runOf(row: RunRow): StoredRun {
  const { wholeValue, trigger, gitCommit, gitDirty } = row;
  return {
    entry: entryOf(row),
    value: wholeValue === null ? null : JSON.parse(wholeValue),
    trigger: trigger === null ? null : (JSON.parse(trigger) as Trigger),
    git: gitCommit === null ? null : { commit: gitCommit, dirty: gitDirty === 1 },
  };
}
