/** A moment in the scheduler's life at which `kill-at.ts` ends it. */
export type KillPoint = keyof typeof killPoints;

/** The same in the life of a question. */
export type QuestionPoint = keyof typeof questionPoints;

/** What is written in a transaction, told by a part of the statement's text. */
export const writes = {
  receipt: "INSERT INTO receipts",
  claim: "SET state = 'running'",
  begin: "SET begun = 1",
  end: "SET state = 'ended', outcome = ?, dead_letter = ?, reason = ?, started_at",
  refusal: "SET state = 'ended', outcome = ?, reason = ?, dead_letter = ?, ended_at",
  lock: "INSERT INTO locks",
  freed: "DELETE FROM locks WHERE resource",
  recovery: "DELETE FROM locks WHERE instance_id NOT IN",
  tick: "INSERT INTO cron_ticks",
  question: "INSERT INTO questions",
  answer: "UPDATE questions SET state",
} as const;

export type Written = keyof typeof writes;

/** Where a kill strikes: at the commit of a write, at a call of a built-in, or once a file is there. */
export type Strike =
  | { readonly at: "commit"; readonly of: Written; readonly when: "before" | "after" }
  | { readonly at: "call"; readonly of: "answer" | "spawn" | "order" | "draft" | "rename" | "link" }
  | { readonly at: "file"; readonly of: "in-run" | "in-post" }
  | { readonly at: "migration" };

/** Every named point, and how the process finds out that it is there. */
export const killPoints = {
  "receipt not committed": { at: "commit", of: "receipt", when: "before" },
  "receipt committed, not answered": { at: "commit", of: "receipt", when: "after" },
  "answered, queued": { at: "call", of: "answer" },
  "not claimed": { at: "commit", of: "claim", when: "before" },
  claimed: { at: "commit", of: "claim", when: "after" },
  "not begun": { at: "commit", of: "begin", when: "before" },
  "begun, not asked": { at: "commit", of: "begin", when: "after" },
  "created, not started": { at: "call", of: "spawn" },
  started: { at: "call", of: "order" },
  running: { at: "file", of: "in-run" },
  "in a post hook": { at: "file", of: "in-post" },
  "exited, not recorded": { at: "commit", of: "end", when: "before" },
  recorded: { at: "commit", of: "end", when: "after" },
  "lock not granted": { at: "commit", of: "lock", when: "before" },
  "lock granted, not told": { at: "commit", of: "lock", when: "after" },
  "lock not freed": { at: "commit", of: "freed", when: "before" },
  "drop not recorded": { at: "commit", of: "refusal", when: "before" },
  dropped: { at: "commit", of: "refusal", when: "after" },
  "not recovered": { at: "commit", of: "recovery", when: "before" },
  recovered: { at: "commit", of: "recovery", when: "after" },
  migrating: { at: "migration" },
  "key drafted": { at: "call", of: "draft" },
  "key placed": { at: "call", of: "link" },
  "config drafted": { at: "call", of: "draft" },
  "config replaced": { at: "call", of: "rename" },
} as const satisfies Readonly<Record<string, Strike>>;

export const questionPoints = {
  "question not committed": { at: "commit", of: "question", when: "before" },
  "question committed, not emitted": { at: "commit", of: "question", when: "after" },
  "answer not committed": { at: "commit", of: "answer", when: "before" },
  "answered, not resumed": { at: "commit", of: "answer", when: "after" },
} as const satisfies Readonly<Record<string, Strike>>;
