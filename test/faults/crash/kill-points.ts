/** A moment in the scheduler's life at which `kill-at.ts` ends it. */
export type KillPoint = keyof typeof killPoints;

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
  gathered: "INSERT INTO gatherings",
  due: "DELETE FROM gatherings WHERE agent",
  given: "INSERT INTO memory_runs",
  memory: "UPDATE memory_runs SET files",
  session: "INSERT INTO sessions",
  artifacts: "REPLACE INTO artifacts",
} as const;

export type Written = keyof typeof writes;

/** A built-in of Node that the program calls for something. */
export type Call = "answer" | "spawn" | "order" | "draft" | "rename" | "link" | "blob";

/** Where a kill strikes: at the commit of a write, at a call of a built-in, or once a file is there. */
export type Strike = { readonly is: "" | "repeated" | "crowded" | "gathered" | "kept" } & (
  | { readonly at: "commit"; readonly of: Written; readonly when: "before" | "after" }
  | { readonly at: "call"; readonly of: Call }
  | { readonly at: "file"; readonly of: "in-run" | "in-post" }
  | { readonly at: "migration" }
);

const commit =
  (when: "before" | "after") =>
  (of: Written, is: Strike["is"] = ""): Strike => ({ at: "commit", of, when, is });
const [before, after] = [commit("before"), commit("after")];
const call = (of: Call, is: Strike["is"] = ""): Strike => ({ at: "call", of, is });
const file = (of: "in-run" | "in-post"): Strike => ({ at: "file", of, is: "" });

/**
 * Every named point, and how the process finds out that it is there. It `is` one to which a life comes more than once
 * (repeated), to which more work leads than may wait (crowded), one of deliveries that gather (gathered), or one of files that a run leaves (kept).
 */
export const killPoints = {
  "receipt not committed": before("receipt", "repeated"),
  "receipt committed, not answered": after("receipt", "repeated"),
  "answered, queued": call("answer", "repeated"),
  "not claimed": before("claim", "repeated"),
  claimed: after("claim", "repeated"),
  "not begun": before("begin", "repeated"),
  "begun, not asked": after("begin", "repeated"),
  "created, not started": call("spawn", "repeated"),
  started: call("order", "repeated"),
  running: file("in-run"),
  "in a post hook": file("in-post"),
  "exited, not recorded": before("end"),
  recorded: after("end"),
  "lock not granted": before("lock"),
  "lock granted, not told": after("lock"),
  "lock not freed": before("freed"),
  "drop not recorded": before("refusal", "crowded"),
  dropped: after("refusal", "crowded"),
  "not recovered": before("recovery"),
  recovered: after("recovery"),
  "delivery not gathered": before("gathered", "gathered"),
  "delivery gathered": after("gathered", "gathered"),
  "gathered run not queued": before("due", "gathered"),
  "gathered run queued": after("due", "gathered"),
  "file stored": call("blob", "kept"),
  "memory not given": before("given", "kept"),
  "memory given": after("given", "kept"),
  "memory not stored": before("memory", "kept"),
  "memory stored": after("memory", "kept"),
  "session not stored": before("session", "kept"),
  "session stored": after("session", "kept"),
  "artifacts not stored": before("artifacts", "kept"),
  "artifacts stored": after("artifacts", "kept"),
  migrating: { at: "migration", is: "repeated" },
  "key drafted": call("draft"),
  "key placed": call("link"),
  "config drafted": call("draft"),
  "config replaced": call("rename"),
} satisfies Readonly<Record<string, Strike>>;
