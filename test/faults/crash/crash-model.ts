import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { CrashProject } from "./crash-project.ts";

/** A work item as the store has it. */
export interface WorkRow {
  readonly id: string;
  readonly agent: string;
  readonly receiptId: string | null;
  readonly instanceId: string | null;
  readonly state: "queued" | "running" | "ended";
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly attempt: number;
  /** 1 once its run's process may have been asked for something. */
  readonly begun: number;
  readonly deadLetter: number;
}

/** What was promised to the world outside, and must stay true over every crash. */
export interface Promised {
  /** Receipt ids that were answered with 200. */
  readonly receipts: Set<string>;
  /** Work item ids that were answered with 202. */
  readonly manual: Set<string>;
  /** Every row that was ever seen, as it was last. */
  readonly seen: Map<string, WorkRow>;
}

/** What is in the store and what the runs themselves wrote down. */
export interface Found {
  readonly rows: readonly WorkRow[];
  readonly receipts: ReadonlySet<string>;
  readonly lockHolders: readonly string[];
  readonly integrity: unknown;
  readonly ran: readonly { readonly agent: string; readonly instanceId: string }[];
}

export function nothingPromised(): Promised {
  return { receipts: new Set(), manual: new Set(), seen: new Map() };
}

/** Reads it all, whether a scheduler lives or not. */
export function look({ dir, marks }: CrashProject): Found {
  const path = join(dir, ".al", "state.db");
  const notes = readFileSync(join(marks, "ran"), "utf8").split("\n").slice(0, -1);
  const ran = notes.map((line) => {
    const [agent = "", instanceId = ""] = line.split(" ");
    return { agent, instanceId };
  });
  if (!existsSync(path))
    return { rows: [], receipts: new Set(), lockHolders: [], integrity: "ok", ran };
  using db = new DatabaseSync(path, { timeout: 2000 });
  const all = (sql: string) => db.prepare(sql).all();
  const rows = all(
    `SELECT id, agent, receipt_id AS receiptId, instance_id AS instanceId, state, outcome, reason, attempt,
       begun, dead_letter AS deadLetter FROM triggers ORDER BY seq`,
  ) as unknown as WorkRow[];
  const ids = (sql: string) => all(sql).map(({ id }) => String(id));
  return {
    rows,
    receipts: new Set(ids("SELECT id FROM receipts")),
    lockHolders: ids("SELECT instance_id AS id FROM locks"),
    integrity: db.prepare("PRAGMA quick_check").get()?.quick_check,
    ran,
  };
}

/** Every promise that is broken, as a sentence. */
export function* brokenPromises(promised: Promised, found: Found): Generator<string> {
  const byId = new Map(found.rows.map((row) => [row.id, row]));
  const withWork = new Set(found.rows.map(({ receiptId }) => receiptId));
  if (found.integrity !== "ok") yield `the database is damaged: ${String(found.integrity)}`;
  for (const id of promised.receipts)
    if (!found.receipts.has(id)) yield `${id} was answered 200 and is gone`;
  for (const id of found.receipts) if (!withWork.has(id)) yield `receipt ${id} has no work`;
  for (const id of promised.manual) if (!byId.has(id)) yield `${id} was answered 202 and is gone`;
  for (const before of promised.seen.values()) yield* changedWrongly(before, byId.get(before.id));
  yield* retriedWrongly(found.rows);
  yield* ranWrongly(found);
}

/** What keeps the next look honest. */
export function remember({ seen }: Promised, { rows }: Found): void {
  for (const row of rows) seen.set(row.id, row);
}

const order = { queued: 0, running: 1, ended: 2 } as const;

function* changedWrongly(before: WorkRow, now: WorkRow | undefined) {
  if (now === undefined) return void (yield `${before.id} was ${before.state} and is gone`);
  const isSame = before.state === "ended" && now.outcome !== before.outcome;
  // A run that was claimed and never began is none: its work waits again, for another one.
  const neverBegan =
    before.state === "running" && before.begun === 0 && now.attempt === before.attempt;
  const wentBack = !neverBegan && order[now.state] < order[before.state];
  const isOther = !neverBegan && before.instanceId !== null && now.instanceId !== before.instanceId;
  if (isSame || wentBack || isOther)
    yield `${before.id} was ${JSON.stringify(before)} and is ${JSON.stringify(now)}`;
}

/** Attempts of one delivery: 1, and 2 only after the first was lost. */
function* retriedWrongly(rows: readonly WorkRow[]) {
  const delivered = rows.filter(({ receiptId }) => receiptId !== null);
  for (const [receiptId, of] of Map.groupBy(delivered, (row) => row.receiptId)) {
    const attempts = of.map(({ attempt }) => attempt).join();
    const isLost = of[0]?.outcome === "lost";
    if (attempts !== (isLost ? "1,2" : "1"))
      yield `receipt ${String(receiptId)} was tried as ${JSON.stringify(of)}`;
  }
}

/** What ran was claimed by that instance, once; what succeeded did run; who dropped out did not. */
function* ranWrongly({ rows, ran }: Found) {
  const claimed = new Set(rows.map(({ instanceId }) => instanceId));
  const times = Map.groupBy(ran, ({ instanceId }) => instanceId);
  for (const [id, each] of times) {
    if (each.length > 1) yield `${id} ran more than once`;
    if (!claimed.has(id)) yield `${id} ran, and no work says so`;
  }
  const of = (outcome: string) => rows.filter((row) => row.outcome === outcome);
  const hasRun = ({ instanceId }: WorkRow) => times.has(instanceId ?? "");
  for (const row of of("succeeded")) if (!hasRun(row)) yield `${row.id} succeeded without a run`;
  for (const row of of("lost")) {
    if (row.begun === 0) yield `${row.id} is lost, and never began`;
    // A run outlives its scheduler: only one that died before its process was asked can be lost.
    if (hasRun(row)) yield `${row.id} is lost, and ran as ${String(row.instanceId)}`;
  }
}

const outcomes = ["succeeded", "lost", "skipped", "missed"];

/** What is left to be done, or was ended in a way that nothing in these projects asks for. */
export function unfinished({ rows, lockHolders }: Found): readonly string[] {
  const isOver = ({ state, outcome, reason, deadLetter }: WorkRow): boolean =>
    state === "ended" &&
    (outcomes.includes(outcome ?? "") ||
      (outcome === "dropped" && reason === "queue_full" && deadLetter === 1));
  return [
    ...rows.filter((row) => !isOver(row)).map((row) => JSON.stringify(row)),
    ...lockHolders.map((id) => `${id} holds a lock`),
  ];
}

/** Locks of runs that are over. */
export function deadLocks({ rows, lockHolders }: Found): readonly string[] {
  const running = rows.filter(({ state }) => state === "running").map((row) => row.instanceId);
  return lockHolders
    .filter((id) => !running.includes(id))
    .map((id) => `${id} holds a lock and is over`);
}
