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
  /** Instances whose processes were killed: these may be lost although they ran. */
  readonly killed: Set<string>;
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
  return { receipts: new Set(), manual: new Set(), killed: new Set(), seen: new Map() };
}

/** Reads it all, whether a scheduler lives or not. */
export function look({ dir, marks }: CrashProject): Found {
  const path = join(dir, ".al", "state.db");
  const ran = readFileSync(join(marks, "ran"), "utf8").split("\n").slice(0, -1);
  const notes = ran
    .map((line) => line.split(" "))
    .map(([agent = "", instanceId = ""]) => ({ agent, instanceId }));
  const nothing = { rows: [], receipts: new Set<string>(), lockHolders: [], integrity: "ok" };
  if (!existsSync(path)) return { ...nothing, ran: notes };
  const db = new DatabaseSync(path, { timeout: 2000 });
  const all = (sql: string) => db.prepare(sql).all();
  try {
    const rows = all(
      `SELECT id, agent, receipt_id AS receiptId, instance_id AS instanceId, state, outcome, reason, attempt,
         begun, dead_letter AS deadLetter FROM triggers ORDER BY seq`,
    ) as unknown as WorkRow[];
    return {
      rows,
      receipts: new Set(all("SELECT id FROM receipts").map(({ id }) => String(id))),
      lockHolders: all("SELECT instance_id AS id FROM locks").map(({ id }) => String(id)),
      integrity: db.prepare("PRAGMA quick_check").get()?.quick_check,
      ran: notes,
    };
  } finally {
    db.close();
  }
}

/** Every promise that is broken, as a sentence. */
export function brokenPromises(promised: Promised, found: Found): readonly string[] {
  const byId = new Map(found.rows.map((row) => [row.id, row]));
  return [
    ...(found.integrity === "ok" ? [] : [`the database is damaged: ${String(found.integrity)}`]),
    ...lostReceipts(promised, found),
    ...[...promised.manual]
      .filter((id) => !byId.has(id))
      .map((id) => `${id} was answered 202 and is gone`),
    ...[...promised.seen.values()].flatMap((before) => changedWrongly(before, byId.get(before.id))),
    ...retriedWrongly(found.rows),
    ...ranWrongly(promised, found),
  ];
}

/** What keeps the next look honest. */
export function remember({ seen }: Promised, { rows }: Found): void {
  for (const row of rows) seen.set(row.id, row);
}

function lostReceipts({ receipts }: Promised, found: Found): string[] {
  const withWork = new Set(found.rows.map(({ receiptId }) => receiptId));
  return [
    ...[...receipts]
      .filter((id) => !found.receipts.has(id))
      .map((id) => `${id} was answered 200 and is gone`),
    ...[...found.receipts]
      .filter((id) => !withWork.has(id))
      .map((id) => `receipt ${id} has no work`),
  ];
}

const order = { queued: 0, running: 1, ended: 2 } as const;

function changedWrongly(before: WorkRow, now: WorkRow | undefined): string[] {
  if (now === undefined) return [`${before.id} was ${before.state} and is gone`];
  const isSame = before.state === "ended" && now.outcome !== before.outcome;
  // A run that was claimed and never began is none: its work waits again, for another one.
  const neverBegan =
    before.state === "running" && before.begun === 0 && now.attempt === before.attempt;
  const wentBack = !neverBegan && order[now.state] < order[before.state];
  const isOther = !neverBegan && before.instanceId !== null && now.instanceId !== before.instanceId;
  if (!isSame && !wentBack && !isOther) return [];
  return [`${before.id} was ${JSON.stringify(before)} and is ${JSON.stringify(now)}`];
}

/** Attempts of one delivery: 1, and 2 only after the first was lost. */
function retriedWrongly(rows: readonly WorkRow[]): string[] {
  const tries = Map.groupBy(
    rows.filter(({ receiptId }) => receiptId !== null),
    ({ receiptId }) => receiptId,
  );
  return [...tries].flatMap(([receiptId, of]) => {
    const attempts = of.map(({ attempt }) => attempt);
    const isOne = of.length === 1 && attempts[0] === 1 && of[0]?.outcome !== "lost";
    const isTwo = of.length === 2 && attempts.join() === "1,2" && of[0]?.outcome === "lost";
    return isOne || isTwo
      ? []
      : [`receipt ${String(receiptId)} was tried as ${JSON.stringify(of)}`];
  });
}

/** What ran was claimed by that instance, once; what succeeded did run; who dropped out did not. */
function ranWrongly({ killed }: Promised, { rows, ran }: Found): string[] {
  const ofInstance = new Map(rows.map((row) => [row.instanceId, row]));
  const times = Map.groupBy(ran, ({ instanceId }) => instanceId);
  return [
    ...[...times].filter(([, of]) => of.length > 1).map(([id]) => `${id} ran more than once`),
    ...[...times.keys()]
      .filter((id) => !ofInstance.has(id))
      .map((id) => `${id} ran, and no work says so`),
    ...rows
      .filter(({ outcome, instanceId }) => outcome === "succeeded" && !times.has(instanceId ?? ""))
      .map(({ id }) => `${id} succeeded without a run`),
    ...rows
      .filter(({ outcome, begun }) => outcome === "lost" && begun === 0)
      .map(({ id }) => `${id} is lost, and never began`),
    // A run outlives its scheduler: only one that died before its process was asked can be lost.
    ...rows
      .filter(({ outcome, instanceId }) => outcome === "lost" && times.has(instanceId ?? ""))
      .filter(({ instanceId }) => !killed.has(instanceId ?? ""))
      .map(({ id, instanceId }) => `${id} is lost, and ran as ${String(instanceId)}`),
  ];
}

/** What is left to be done, or was ended in a way that nothing in these projects asks for. */
export function unfinished({ rows, lockHolders }: Found): readonly string[] {
  const isOver = ({ state, outcome, reason, deadLetter }: WorkRow): boolean =>
    state === "ended" &&
    (outcome === "succeeded" ||
      outcome === "lost" ||
      outcome === "skipped" ||
      outcome === "missed" ||
      (outcome === "dropped" && reason === "queue_full" && deadLetter === 1));
  return [
    ...rows.filter((row) => !isOver(row)).map((row) => JSON.stringify(row)),
    ...lockHolders.map((id) => `${id} holds a lock`),
  ];
}

/** Locks of runs that are over. */
export function deadLocks({ rows, lockHolders }: Found): readonly string[] {
  const running = new Set(
    rows.filter(({ state }) => state === "running").map((row) => row.instanceId),
  );
  return lockHolders.filter((id) => !running.has(id)).map((id) => `${id} holds a lock and is over`);
}
