import type { DatabaseSync } from "node:sqlite";
import { isoTimes } from "../../../streams/iso-times.ts";
import { withJson, whereOf } from "../../foundation/store/rows.ts";
import { atTerminal, type Person } from "../../foundation/contracts/questions.ts";
import { pageOf } from "../../foundation/contracts/page-of.ts";
import { messageOf } from "../../foundation/errors.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import type { AuditEntry, AuditQuery, AuditReport } from "./audit-report.ts";
import type { Act } from "../../foundation/contracts/audit-acts.ts";

type NewEntry = Omit<AuditEntry, "id">;

const maxDetail = 200;

/** An entry without secrets and on one line. */
export function auditEntry(
  { act, agent = null, instanceId = null, detail }: Act,
  { by, at, redact }: { by: NewEntry["by"]; at: number; redact: (text: string) => string },
): NewEntry {
  // Redacted first: a secret that is cut would not be found.
  const line = redact(detail ?? "")
    .replace(/\s+/g, " ")
    .trim();
  const short = line.length > maxDetail ? `${line.slice(0, maxDetail - 1)}…` : line;
  return { act, agent, instanceId, detail: short, at, by };
}

/** Inserts an entry in the caller's transaction. */
export function auditInsert(db: DatabaseSync): (entry: NewEntry) => void {
  const insert = db.prepare(
    "INSERT INTO audit (at, act, agent, instance_id, detail, person) VALUES (?, ?, ?, ?, ?, ?)",
  );
  return ({ at, act, agent, instanceId, detail, by }) =>
    void insert.run(at, act, agent, instanceId, detail, JSON.stringify(by));
}

const conditions = {
  since: "at >= :since",
  by: ":by IN (person ->> 'via', person ->> 'name', person ->> 'from')",
  agent: "agent = :agent",
  instance: "instance_id = :instance",
  act: "act = :act",
  before: "seq < :before",
};

/** Reads and writes `audit`. */
export function createAuditStore(db: DatabaseSync, { record }: GroupCommit) {
  const insert = auditInsert(db);
  /** The latest first. */
  const list = ({ limit, since, ...filter }: AuditQuery): readonly AuditEntry[] => {
    const from = since === undefined ? since : Date.parse(since);
    const { where, values } = whereOf(conditions, { ...filter, since: from });
    const rows = db
      .prepare(
        `SELECT seq AS id, at, act, agent, instance_id AS instanceId, detail, person AS by
         FROM audit ${where} ORDER BY seq DESC LIMIT :limit`,
      )
      .all({ ...values, limit });
    return rows.map((row) => withJson<AuditEntry>(row, "by"));
  };
  return {
    /** Resolves once the entry is committed; while the store is not available it waits. */
    add: (entry: NewEntry): Promise<void> => record(() => insert(entry)),
    /** The acts, the latest first; `next` is the `before` of the next page. */
    page: ({ limit, ...filter }: AuditQuery): AuditReport => {
      const { rows, next } = pageOf(limit, (most) => list({ ...filter, limit: most }));
      return { entries: rows.map((entry) => isoTimes(entry, "at")), next };
    },
  };
}

interface AuditDeps {
  readonly store: ReturnType<typeof createAuditStore>;
  readonly now: () => number;
  readonly redact: (text: string) => string;
  readonly warn: (message: string) => void;
  /** Called after an act is stored. */
  readonly onAct: () => void;
}

/** The audit trail of people. */
export function createAudit({ store, now, redact, warn, onAct }: AuditDeps) {
  return {
    /** Records an act that was done. Never throws: the act must not fail because it can't be recorded. */
    recordAct: (act: Act, by: Person = atTerminal): void => {
      store.add(auditEntry(act, { by, at: now(), redact })).then(onAct, (error: unknown) => {
        warn(`the audit trail lacks an act (${act.act}): ${messageOf(error)}`);
      });
    },
    page: store.page,
  };
}

export type Audit = ReturnType<typeof createAudit>;
