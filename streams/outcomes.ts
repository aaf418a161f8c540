/** What the readers of an outcome need to know about it. */
interface OutcomeRow {
  /**
   * `failure` counts in an agent's streak. `ended`: a person or a stop of the scheduler ended the run, neither failure nor
   * success. `partial`: an error that does not count, as the run did a part. `refused`: the work never became a run.
   */
  readonly kind: "success" | "failure" | "ended" | "partial" | "refused";
  /** Absent if the run's process has its own, or never ran to its end. */
  readonly exitCode?: number;
  /** The scheduler ends runs for this reason, which is told to post hooks. */
  readonly isStop?: true;
  /** Also for work that never became a run. */
  readonly isRefusal?: true;
  /** Not caused by the work: the scheduler was stopped, or the run's machine or engine failed. It is tried once more. */
  readonly isRetried?: true;
  /** Without a retry a person may replay the work. */
  readonly isDeadLetter?: true;
  /** Follows the agent's name in the title of an alert; "failed" if absent. */
  readonly alert?: string;
  /** Begins the explanation on a page. */
  readonly meaning?: string;
}

/** The ends of work in the order in which pages list them. A new outcome is a row here. */
const rows = {
  succeeded: { kind: "success", exitCode: 0 },
  failed: { kind: "failure" },
  timed_out: {
    kind: "failure",
    exitCode: 124,
    isStop: true,
    alert: "timed out",
    meaning: "The run was ended",
  },
  killed: { kind: "ended", exitCode: 137, isStop: true, meaning: "The run was killed" },
  interrupted: {
    kind: "ended",
    exitCode: 143,
    isStop: true,
    isRetried: true,
    isDeadLetter: true,
    meaning: "The run was interrupted",
  },
  out_of_memory: {
    kind: "failure",
    exitCode: 137,
    alert: "ran out of memory",
    meaning: "The run was ended",
  },
  over_budget: {
    kind: "failure",
    exitCode: 125,
    isDeadLetter: true,
    alert: "ran over its budget",
    meaning: "The run was refused a call to its model",
  },
  unanswered: {
    kind: "failure",
    exitCode: 125,
    isStop: true,
    isDeadLetter: true,
    alert: "got no answer to its question",
    meaning: "The run got no answer",
  },
  superseded: {
    kind: "ended",
    exitCode: 125,
    isStop: true,
    isRefusal: true,
  },
  stopped: { kind: "partial", exitCode: 0, meaning: "The run was stopped after a turn" },
  lost: {
    kind: "failure",
    isRetried: true,
    isDeadLetter: true,
    alert: "lost its run",
    meaning: "The run started, and nothing recorded its end",
  },
  skipped: { kind: "refused", meaning: "The tick was skipped" },
  missed: { kind: "refused", meaning: "The tick was missed" },
  dropped: { kind: "refused", isDeadLetter: true, meaning: "The work was dropped" },
  rejected: {
    kind: "refused",
    isDeadLetter: true,
    alert: "could not start",
    meaning: "Nothing ran",
  },
} as const satisfies Readonly<Record<string, OutcomeRow>>;

export type Outcome = keyof typeof rows;
export const outcomeRows: Readonly<Record<Outcome, OutcomeRow>> = rows;
export const outcomes = Object.keys(rows) as readonly Outcome[];

/** The outcomes whose row has these values. */
type With<Row> = { [O in Outcome]: (typeof rows)[O] extends Row ? O : never }[Outcome];
export type RefusedOutcome = With<{ kind: "refused" }> | With<{ isRefusal: true }>;
/** Why the scheduler ends a run. */
export type StopReason = With<{ isStop: true }>;

export const failedOutcomes = outcomes.filter((one) => outcomeRows[one].kind === "failure");
export const retriedOutcomes = outcomes.filter((one) => outcomeRows[one].isRetried);
export const stopReasons = outcomes.filter((one): one is StopReason => "isStop" in rows[one]);
export const refusedOutcomes = outcomes.filter(
  (one): one is RefusedOutcome => outcomeRows[one].kind === "refused",
);
/** Whether work may end like this without ever being a run. */
export function isRefusal(one: Outcome): one is RefusedOutcome {
  return outcomeRows[one].kind === "refused" || outcomeRows[one].isRefusal === true;
}
export const refusalOutcomes = outcomes.filter(isRefusal);
export const runOutcomes = outcomes.filter((one) => outcomeRows[one].kind !== "refused");

/** An outcome in words: "timed out". */
export function outcomeText(outcome: string): string {
  return outcome.replaceAll("_", " ");
}

/** Whether the work failed, or was requested and never ran. A tick that is skipped or missed comes again. */
export function isError(outcome: Outcome): boolean {
  const { kind, isDeadLetter = false } = outcomeRows[outcome];
  return kind === "failure" || kind === "partial" || (kind === "refused" && isDeadLetter);
}

/** The colour of an outcome: held work comes again, and a person chose what is off. */
export function toneOf(outcome: Outcome): "good" | "error" | "held" | "off" {
  const { kind, isRetried = false } = outcomeRows[outcome];
  if (kind === "success") return "good";
  if (kind === "failure") return "error";
  return kind === "refused" || isRetried ? "held" : "off";
}
