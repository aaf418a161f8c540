import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import { openTriggers } from "../../foundation/store/trigger-rows.ts";
import { takenAgain } from "./inbox-store.ts";

/**
 * `questions` holds the questions of runs to people: a run has one open question about a subject. `used_at` is when an
 * approval for once was used up. `inbox` holds messages of people to runs, with the work that continues a run,
 * `run_sessions` the sessions of ended runs in parts, `audit` who did something: `person` is JSON. `answer_key` signs the
 * links by which people answer, `request_hash` of an approval is the keyed hash of the exact request. `whole_answers` holds
 * answers that name a secret, as people gave them: for their runs alone, until these have ended.
 */
export const peopleTables: FeatureTables = {
  steps: [
    "",
    `INSERT INTO settings VALUES ('answer_key', lower(hex(randomblob(32))));
    CREATE TABLE questions (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,
      agent TEXT NOT NULL,
      gates TEXT NOT NULL,
      instance_id TEXT NOT NULL,
      subject TEXT NOT NULL,
      prompt TEXT NOT NULL,
      form TEXT NOT NULL,
      fallback TEXT,
      until INTEGER NOT NULL,
      state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'expired', 'withdrawn')),
      answer TEXT,
      answered_at INTEGER,
      person TEXT,
      used_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX questions_open ON questions (instance_id, kind, subject) WHERE state = 'open';
    CREATE INDEX questions_by_run ON questions (instance_id, kind, subject);
    CREATE INDEX questions_by_time ON questions (at);
    CREATE TABLE inbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      instance_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      text TEXT NOT NULL,
      person TEXT NOT NULL,
      received_at INTEGER,
      trigger_id TEXT
    ) STRICT;
    CREATE INDEX inbox_by_run ON inbox (instance_id, seq);
    CREATE INDEX inbox_by_time ON inbox (at);
    CREATE TABLE run_sessions (
      seq INTEGER PRIMARY KEY,
      instance_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      part INTEGER NOT NULL,
      is_last INTEGER NOT NULL,
      entries BLOB NOT NULL,
      UNIQUE (instance_id, part)
    ) STRICT;
    CREATE INDEX run_sessions_by_time ON run_sessions (at);
    CREATE TABLE audit (
      seq INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      act TEXT NOT NULL,
      agent TEXT,
      instance_id TEXT,
      detail TEXT NOT NULL,
      person TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_by_time ON audit (at);
    CREATE INDEX audit_by_agent ON audit (agent); CREATE INDEX audit_by_act ON audit (act);
    CREATE INDEX audit_by_run ON audit (instance_id) WHERE instance_id IS NOT NULL;`,
    `ALTER TABLE questions ADD COLUMN request_hash TEXT;
    CREATE TABLE whole_answers (
      question_id TEXT PRIMARY KEY,
      instance_id TEXT NOT NULL,
      answer TEXT NOT NULL
    ) STRICT;`,
  ],
  growing: [
    // An open question belongs to a live run.
    { table: "questions", batch: 200, where: "+state <> 'open'" },
    { table: "inbox", batch: 200 },
    { table: "run_sessions", batch: 10 },
    { table: "audit", batch: 200 },
  ],
  beforeRecovery: (db, alive) => {
    const lost = `SELECT instance_id FROM ${openTriggers} AND instance_id IS NOT NULL`;
    const among = "SELECT value FROM json_each(?)";
    db.prepare(`${takenAgain} IN (${lost} EXCEPT ${among}))`).run(JSON.stringify([...alive]));
  },
  waits: `SELECT at FROM questions
    WHERE questions.instance_id = triggers.instance_id AND questions.state = 'open'`,
};
