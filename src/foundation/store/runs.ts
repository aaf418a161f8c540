import { failedOutcomes, outcomeRows, type Outcome } from "../../../streams/outcomes.ts";
import type { DatabaseSync } from "node:sqlite";
import { withJson } from "./rows.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import { triggerKinds, type Trigger } from "../../../streams/vocabulary.ts";
import { mostFailures } from "../contracts/format.ts";
import type { Failing, HistoryEntry } from "../contracts/history.ts";
import { entryColumns, entryOf, type EntryRow } from "./history.ts";

/** A run as it is stored. */
export interface StoredRun {
  readonly entry: HistoryEntry;
  /** The returned value, whole; null for no value. */
  readonly value: unknown;
  readonly trigger: Trigger | null;
  /** The receipts of gathered deliveries, in order; null for other work. */
  readonly gathered: readonly string[] | null;
  readonly git: GitState | null;
}

interface RunRow extends EntryRow {
  readonly wholeValue: string | null;
  readonly trigger: string | null;
  readonly gathered: string | null;
  readonly gitCommit: string | null;
  readonly gitDirty: number | null;
}

const mostCalls = 500;
/** Excludes work that a waiting run received: it has that run's instance, but is not a run of its own. */
const isRun = "(started_at IS NOT NULL OR version IS NOT NULL OR outcome = 'rejected')";

/** Including dead letters: work over its budget, and work lost twice. */
const failedClasses = triggerKinds.flatMap((kind) =>
  failedOutcomes.flatMap((outcome) => [`${kind}/${outcome}/0`, `${kind}/${outcome}/1`]),
);
const succeededClasses = triggerKinds.map((kind) => `${kind}/succeeded/0`);

/** Reads single runs. Throws the store's errors. */
export function createRuns(db: DatabaseSync) {
  const select = db.prepare(
    `SELECT ${entryColumns}, value AS wholeValue, trigger, gathered, git_commit AS gitCommit, git_dirty AS gitDirty
     FROM triggers WHERE instance_id = ? AND ${isRun} ORDER BY seq LIMIT 1`,
  );
  const selectMade = db.prepare(
    `SELECT ${entryColumns} FROM triggers WHERE caller = ? ORDER BY seq LIMIT ${mostCalls}`,
  );
  // A class is a range of one index, in the order of time: one row of each is read.
  const selectBefore = db.prepare(
    `SELECT instance_id AS instanceId, at, seq FROM triggers INDEXED BY triggers_by_agent_class
     WHERE agent = ? AND class = ? AND started_at IS NOT NULL AND (at, seq) < (?, ?)
     ORDER BY at DESC, seq DESC LIMIT 1`,
  );
  const placeOf = db.prepare(
    `SELECT agent, at, seq, outcome FROM triggers WHERE instance_id = ? AND ${isRun} ORDER BY seq LIMIT 1`,
  );
  // The index alone holds all that is counted, and the first of each class.
  const failures = `FROM triggers INDEXED BY triggers_by_agent_class
     WHERE agent = :agent AND at BETWEEN :from AND :at AND (at, seq) > (:from, :after)`;
  const selectFailing = db.prepare(
    `SELECT (SELECT count(*) FROM (SELECT 1 ${failures} AND (at, seq) <= (:at, :seq)
         AND class IN (SELECT value FROM json_each(:classes)) LIMIT ${mostFailures})) AS count,
       min((SELECT at ${failures} AND class = failed.value ORDER BY at LIMIT 1)) AS since
     FROM json_each(:classes) AS failed`,
  );
  const classes = JSON.stringify(failedClasses);
  const contents = prepareContents(db);
  const latestBefore = (
    { agent, at, seq }: Omit<Place, "outcome">,
    among: readonly string[],
  ): Found | undefined =>
    among
      .map((one) => selectBefore.get(agent, one, at, seq))
      .filter((row) => row !== undefined)
      .map((row) => row as unknown as Found)
      .sort((a, b) => b.at - a.at || b.seq - a.seq)[0];
  const judgedLast = (agent: string): Found | undefined => {
    const end = { agent, at: Number.MAX_SAFE_INTEGER, seq: 0 };
    return latestBefore(end, [...succeededClasses, ...failedClasses]);
  };
  return {
    /** Undefined if the run is unknown, or retention deleted it. */
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
      return (place && latestBefore(place, succeededClasses)?.instanceId) ?? null;
    },
    /** The agent's latest run that succeeded or failed by itself; null for none. */
    latestJudged: (agent: string): string | null => judgedLast(agent)?.instanceId ?? null,
    /** The failed runs of the same agent from its last success to this run; null if this one did not fail. */
    failingAt: (instanceId: string): Omit<Failing, "changed"> | null => {
      const place = placeOf.get(instanceId) as unknown as Place | undefined;
      if (!place?.outcome || outcomeRows[place.outcome].kind !== "failure") return null;
      const before = latestBefore(place, succeededClasses);
      const { agent, at, seq } = place;
      const range = { agent, at, seq, classes, from: before?.at ?? 0, after: before?.seq ?? 0 };
      const { count, since } = selectFailing.get(range) as unknown as FailedRow;
      return {
        instanceId,
        count,
        newest: !isAfter(judgedLast(agent), place),
        since: isoTime(since),
        lastSuccess: before ? { instanceId: before.instanceId, at: isoTime(before.at) } : null,
      };
    },
    /** The config and instructions of a run; undefined if they are not stored. */
    content: (hash: string): RunContent | undefined => contents.find(hash),
  };
}

interface Place {
  readonly agent: string;
  readonly at: number;
  readonly seq: number;
  readonly outcome: Outcome | null;
}

interface FailedRow {
  readonly count: number;
  readonly since: number;
}

interface Found extends Omit<Place, "agent" | "outcome"> {
  readonly instanceId: string;
}

function isAfter(run: Found | undefined, { at, seq }: Place): boolean {
  return run !== undefined && (run.at > at || (run.at === at && run.seq > seq));
}

function runOf(row: RunRow): StoredRun {
  const { wholeValue, trigger, gathered, gitCommit, gitDirty } = row;
  return {
    entry: entryOf(row),
    value: wholeValue === null ? null : JSON.parse(wholeValue),
    trigger: trigger === null ? null : (JSON.parse(trigger) as Trigger),
    gathered: gathered === null ? null : (JSON.parse(gathered) as readonly string[]),
    git: gitCommit === null ? null : { commit: gitCommit, dirty: gitDirty === 1 },
  };
}

/** The request of a history entry. */
interface Original {
  /** Null for a delivery that matched no agent. */
  readonly agent: string | null;
  /** The stored delivery that it came from; null for work without a webhook. */
  readonly receiptId: string | null;
  /** Null for an entry that was never a work item. */
  readonly trigger: Trigger | null;
  /** The receipts of gathered deliveries, in order; null for other work. */
  readonly gathered: readonly string[] | null;
}

/** Reads `triggers` for replays. */
export function createOriginals(db: DatabaseSync) {
  const byId = db.prepare(
    "SELECT agent, receipt_id AS receiptId, trigger, gathered FROM triggers WHERE id = ?",
  );
  // A delivery's work arrives with it, so the index by time finds its few entries.
  const ofReceipt = db.prepare(
    `SELECT id FROM triggers INDEXED BY triggers_by_time
     WHERE at = ? AND receipt_id = ? AND (agent = ? OR agent IS NULL) ORDER BY agent IS NULL, seq LIMIT 1`,
  );
  return {
    /** Undefined when the history holds no such entry. */
    of: (id: string): Original | undefined => {
      const row = byId.get(id);
      return row && withJson<Original>(row, "trigger", "gathered");
    },
    /**
     * The id of the first entry that a delivery created for an agent, else of one without an agent; null without both.
     * `at` is when the delivery came, epoch ms.
     */
    ofDelivery: (
      { id, at }: { readonly id: string; readonly at: number },
      agent: string,
    ): string | null => {
      const found = ofReceipt.get(at, id, agent)?.id;
      return typeof found === "string" ? found : null;
    },
  };
}

/** Reads and writes the contents of runs, each content once, inside the caller's transaction. */
export function prepareContents(db: DatabaseSync) {
  const find = db.prepare("SELECT content FROM run_contents WHERE hash = ?");
  // Most runs have the content of the run before: the text is passed to SQLite only if it is new.
  const isStored = db.prepare("SELECT 1 FROM run_contents WHERE hash = ?");
  const insert = db.prepare("INSERT INTO run_contents VALUES (?, ?)");
  return {
    add: ({ hash, content }: RunVersion): void => {
      if (isStored.get(hash) === undefined) insert.run(hash, JSON.stringify(content));
    },
    /** Undefined if it is not stored. */
    find: (hash: string): RunContent | undefined => {
      const row = find.get(hash);
      return row && (JSON.parse(String(row.content)) as RunContent);
    },
  };
}

/** The content of a run: texts that are compared line by line. */
export interface RunContent {
  /** JSON of the active config with its keys in order, and of the skill's files by path and hash. Holds no secret value. */
  readonly config: string;
  /** The markdown body of SKILL.md. */
  readonly instructions: string;
  /** The scripts of its scripted models; absent for none. */
  readonly scripts?: string;
}

/** A content and its name. */
export interface RunVersion {
  /** The first 32 hex digits of the content's SHA-256. */
  readonly hash: string;
  readonly content: RunContent;
}

/** The repository that a project is in. */
export interface GitState {
  /** The hash of `HEAD`, in hex. */
  readonly commit: string;
  /** Whether the project's directory has changes that are not committed. */
  readonly dirty: boolean;
}
