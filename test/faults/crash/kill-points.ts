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

/**
 * Every named point, and how the process finds out that it is there. It `is` one of a run's start, one that comes about
 * after a run or so (slow), one to which a life may come more than once (repeated), or one that more work than may wait
 * leads to (crowded).
 */
export const killPoints = {
  "receipt not committed": { at: "commit", of: "receipt", when: "before", is: "repeated" },
  "receipt committed, not answered": { at: "commit", of: "receipt", when: "after", is: "repeated" },
  "answered, queued": { at: "call", of: "answer", is: "repeated" },
  "not claimed": { at: "commit", of: "claim", when: "before", is: "start repeated" },
  claimed: { at: "commit", of: "claim", when: "after", is: "start repeated" },
  "not begun": { at: "commit", of: "begin", when: "before", is: "start repeated" },
  "begun, not asked": { at: "commit", of: "begin", when: "after", is: "start repeated" },
  "created, not started": { at: "call", of: "spawn", is: "start repeated" },
  started: { at: "call", of: "order", is: "start repeated" },
  running: { at: "file", of: "in-run", is: "start" },
  "in a post hook": { at: "file", of: "in-post", is: "slow" },
  "exited, not recorded": { at: "commit", of: "end", when: "before", is: "slow" },
  recorded: { at: "commit", of: "end", when: "after", is: "slow" },
  "lock not granted": { at: "commit", of: "lock", when: "before", is: "slow" },
  "lock granted, not told": { at: "commit", of: "lock", when: "after", is: "slow" },
  "lock not freed": { at: "commit", of: "freed", when: "before", is: "slow" },
  "drop not recorded": { at: "commit", of: "refusal", when: "before", is: "repeated crowded" },
  dropped: { at: "commit", of: "refusal", when: "after", is: "repeated crowded" },
  "not recovered": { at: "commit", of: "recovery", when: "before" },
  recovered: { at: "commit", of: "recovery", when: "after" },
  migrating: { at: "migration", is: "repeated" },
  "key drafted": { at: "call", of: "draft" },
  "key placed": { at: "call", of: "link" },
  "config drafted": { at: "call", of: "draft" },
  "config replaced": { at: "call", of: "rename" },
} as const satisfies Readonly<Record<string, Strike & { readonly is?: string }>>;

export const questionPoints = {
  "question not committed": { at: "commit", of: "question", when: "before" },
  "question committed, not emitted": { at: "commit", of: "question", when: "after" },
  "answer not committed": { at: "commit", of: "answer", when: "before" },
  "answered, not resumed": { at: "commit", of: "answer", when: "after" },
} as const satisfies Readonly<Record<string, Strike>>;
