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

/** A built-in of Node that the program calls for something. */
export type Call = "answer" | "spawn" | "order" | "draft" | "rename" | "link";

/** Where a kill strikes: at the commit of a write, at a call of a built-in, or once a file is there. */
export type Strike = { readonly is: string } & (
  | { readonly at: "commit"; readonly of: Written; readonly when: "before" | "after" }
  | { readonly at: "call"; readonly of: Call }
  | { readonly at: "file"; readonly of: "in-run" | "in-post" }
  | { readonly at: "migration" }
);

const commit =
  (when: "before" | "after") =>
  (of: Written, is = ""): Strike => ({ at: "commit", of, when, is });
const [before, after] = [commit("before"), commit("after")];
const call = (of: Call, is = ""): Strike => ({ at: "call", of, is });
const file = (of: "in-run" | "in-post", is = ""): Strike => ({ at: "file", of, is });

/**
 * Every named point, and how the process finds out that it is there. It `is` one of a run's start, one that comes about
 * after a run or so (slow), one to which a life may come more than once (repeated), or one that more work than may wait
 * leads to (crowded).
 */
export const killPoints = {
  "receipt not committed": before("receipt", "repeated"),
  "receipt committed, not answered": after("receipt", "repeated"),
  "answered, queued": call("answer", "repeated"),
  "not claimed": before("claim", "start repeated"),
  claimed: after("claim", "start repeated"),
  "not begun": before("begin", "start repeated"),
  "begun, not asked": after("begin", "start repeated"),
  "created, not started": call("spawn", "start repeated"),
  started: call("order", "start repeated"),
  running: file("in-run", "start"),
  "in a post hook": file("in-post", "slow"),
  "exited, not recorded": before("end", "slow"),
  recorded: after("end", "slow"),
  "lock not granted": before("lock", "slow"),
  "lock granted, not told": after("lock", "slow"),
  "lock not freed": before("freed", "slow"),
  "drop not recorded": before("refusal", "repeated crowded"),
  dropped: after("refusal", "repeated crowded"),
  "not recovered": before("recovery"),
  recovered: after("recovery"),
  migrating: { at: "migration", is: "repeated" },
  "key drafted": call("draft"),
  "key placed": call("link"),
  "config drafted": call("draft"),
  "config replaced": call("rename"),
} satisfies Readonly<Record<string, Strike>>;

export const questionPoints = {
  "question not committed": before("question"),
  "question committed, not emitted": after("question"),
  "answer not committed": before("answer"),
  "answered, not resumed": after("answer"),
} satisfies Readonly<Record<string, Strike>>;
