import type { DatabaseSync } from "node:sqlite";
import type { QuestionsQuery } from "../../foundation/contracts/question-views.ts";
import { withJson } from "../../foundation/store/rows.ts";
import type { Answer, Person, Question } from "../../foundation/contracts/questions.ts";
import type { Redacted } from "../../foundation/credentials/redactor.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";
import { auditInsert } from "./audit.ts";

/** The end of a question. */
export interface Settlement {
  readonly state: Question["state"];
  readonly by: Person | null;
  readonly answer: Redacted<Answer> | null;
  /** The answer for the run, if `answer` is not all of it. */
  readonly whole?: Answer | null;
  /** Epoch ms. */
  readonly at: number;
  /** The act of the person who answered, which is stored in the same transaction. */
  readonly entry?: Parameters<ReturnType<typeof auditInsert>>[0];
}

const columns = `id, kind, agent, instance_id AS instanceId, subject, prompt, at, until, state,
  answered_at AS answeredAt, gates, form, fallback, answer, person AS by`;

/** Reads and writes `questions` and `whole_answers`. Every promise resolves once its change is committed. */
export function createQuestionStore(db: DatabaseSync, { write, record }: GroupCommit) {
  const insert = db.prepare(
    `INSERT INTO questions (id, kind, agent, gates, instance_id, subject, prompt, form, fallback, at, until, request_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const find = db.prepare(`SELECT ${columns} FROM questions WHERE id = ?`);
  const latest = db.prepare(
    `SELECT ${columns} FROM questions WHERE instance_id = ? AND kind = ? AND subject = ? ORDER BY seq DESC LIMIT 1`,
  );
  const whole = db.prepare("SELECT answer FROM whole_answers WHERE question_id = ?");
  const ofRuns = db.prepare("SELECT DISTINCT instance_id AS instanceId FROM whole_answers");
  const removeWhole = db.prepare("DELETE FROM whole_answers WHERE instance_id = ?");
  const settlement = prepareSettlement(db);
  const use = db.prepare(
    "UPDATE questions SET used_at = ? WHERE id = ? AND used_at IS NULL AND request_hash = ?",
  );
  const open = db.prepare(`SELECT ${columns} FROM questions WHERE state = 'open' ORDER BY seq`);
  const ofRun = db.prepare(`SELECT ${columns} FROM questions WHERE instance_id = ? ORDER BY seq`);
  const list = db.prepare(
    `SELECT ${columns} FROM questions
     WHERE (:state IS NULL OR (state = 'open') = (:state = 'open')) AND (:agent IS NULL OR agent = :agent)
       AND (:before IS NULL OR seq < (SELECT seq FROM questions WHERE id = :before))
       AND (:beforeAt IS NULL OR at < :beforeAt)
     ORDER BY seq DESC LIMIT :limit`,
  );
  const last = (instanceId: string, kind: string, subject: string): Question | null =>
    questionOf(latest.get(instanceId, kind, subject));
  const byId = (id: string): Question | null => questionOf(find.get(id));
  const all = (rows: readonly unknown[]): readonly Question[] =>
    rows.flatMap((row) => questionOf(row) ?? []);
  return {
    find: byId,
    /** The run's latest question about a subject; null before the first. */
    latest: last,
    open: (): readonly Question[] => all(open.all()),
    /** All questions of a run, the first one first. */
    ofRun: (instanceId: string): readonly Question[] => all(ofRun.all(instanceId)),
    /** The latest first, of those before a question or before a time in epoch ms. */
    list: (query: QuestionsQuery & { readonly beforeAt?: number | undefined }) => {
      const { state = null, agent = null, before = null, beforeAt = null, limit } = query;
      // A cursor may be the id of a proposal, which no row has.
      const cursor = beforeAt === null ? before : null;
      return all(list.all({ state, agent, before: cursor, beforeAt, limit }));
    },
    /** Resolves to the run's open question about the same subject if it has one, else to the new one. */
    add: (question: Redacted<Question>, requestHash: string | null = null): Promise<Question> =>
      write(() => {
        const { id, kind, agent, instanceId, subject, prompt, fallback, at, until } = question;
        const [gates, form] = [JSON.stringify(question.gates), JSON.stringify(question.form)];
        const answer = fallback === null ? null : JSON.stringify(fallback);
        const about = [id, kind, agent, gates, instanceId, subject] as const;
        insert.run(...about, prompt, form, answer, at, until, requestHash);
        return last(instanceId, kind, subject) ?? question;
      }),
    /** False if the question had ended before. */
    settle: (id: string, end: Settlement): Promise<boolean> => record(settlement(id, end)),
    /** The answer of which `questions` has a part; null if it has all of it. For the run alone. */
    wholeAnswer: (id: string): Answer | null => {
      const row = whole.get(id);
      return row === undefined ? null : (JSON.parse(String(row.answer)) as Answer);
    },
    /** Removes the whole answers to runs that have ended, also from the file's unused parts. */
    forgetWhole: async (isOver: (instanceId: string) => boolean): Promise<void> => {
      const over = ofRuns
        .all()
        .map(({ instanceId }) => String(instanceId))
        .filter(isOver);
      if (over.length === 0) return;
      await record(() => {
        db.exec("PRAGMA secure_delete = ON");
        for (const instanceId of over) removeWhole.run(instanceId);
        db.exec("PRAGMA secure_delete = OFF");
      });
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    /** Uses up an approval for once; false if it was used before, or is for another request. */
    use: (id: string, requestHash: string, at: number): Promise<boolean> =>
      write(() => use.run(at, id, requestHash).changes === 1),
  };
}

export type QuestionStore = ReturnType<typeof createQuestionStore>;

function questionOf(row: unknown): Question | null {
  return row === undefined
    ? null
    : withJson<Question>(row, "gates", "form", "fallback", "answer", "by");
}

/** Writes the end of a question; a repeated write returns the same. */
function prepareSettlement(db: DatabaseSync) {
  // The first answer wins: the state is part of the condition.
  const settle = db.prepare(
    "UPDATE questions SET state = ?, answer = ?, answered_at = ?, person = ? WHERE id = ? AND state = 'open'",
  );
  // The row is read instead of counting changes: a commit that succeeded may report a failure, and is repeated.
  const isSettledBy = db.prepare(
    "SELECT 1 FROM questions WHERE state = ? AND answer IS ? AND answered_at = ? AND person IS ? AND id = ?",
  );
  // In the same transaction, because a restarted scheduler must not count the wait against the run's timeout.
  const waited = db.prepare(
    `UPDATE triggers SET waited_ms = waited_ms + ? - (SELECT at FROM questions WHERE id = ?)
     WHERE instance_id = (SELECT instance_id FROM questions WHERE id = ?) AND state <> 'ended'`,
  );
  const insertWhole = db.prepare(
    "INSERT INTO whole_answers (question_id, instance_id, answer) SELECT id, instance_id, ? FROM questions WHERE id = ?",
  );
  const audit = auditInsert(db);
  return (id: string, end: Settlement): (() => boolean) => {
    let hasSettled = false;
    return () => {
      const { state, answer, by, at, entry, whole: complete = null } = end;
      const [answerJson, person] = [answer, by].map((one) =>
        one === null ? null : JSON.stringify(one),
      );
      const values = [state, answerJson ?? null, at, person ?? null, id] as const;
      if (settle.run(...values).changes === 1) {
        hasSettled = true;
        waited.run(at, id, id);
        if (complete !== null) insertWhole.run(JSON.stringify(complete), id);
        if (entry !== undefined) audit(entry);
      }
      return hasSettled && isSettledBy.get(...values) !== undefined;
    };
  };
}
