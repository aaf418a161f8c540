import { outcomeRows, type Outcome, type StopReason } from "../outcomes.ts";
import { isRetried, type RunEnd, type WorkItem } from "../vocabulary.ts";
import type { RunnerExit } from "./runner.ts";
import type { FactsAtEnd } from "./suspension.ts";

/** Facts beside the exit that decide a run's outcome. */
export interface EndedWork extends FactsAtEnd {
  readonly agent: { readonly timeoutSeconds: number };
  readonly item: WorkItem;
  /** The newer work of its key, for which it was ended; null or absent otherwise. */
  readonly supersededBy?: string | null;
}

/**
 * How a run ended, from its runtime's report and the scheduler's reason to stop it (null without one). The scheduler's
 * own clock, not the process's code, decides a timeout: a process may exit 0 on TERM. A run that succeeds while the
 * scheduler interrupts it has succeeded: its work must not be done twice.
 */
export function runEnd(exit: RunnerExit, stopped: StopReason | null, work: EndedWork): RunEnd {
  const asked = exit.rerun === true ? { rerun: true as const } : {};
  const returned = exit.value === undefined ? {} : { value: exit.value };
  const never = exit.neverBegan === true ? { neverBegan: true as const } : {};
  return { ...howItEnded(exit, stopped, work), ...returned, ...asked, ...never };
}

function howItEnded(exit: RunnerExit, stopped: StopReason | null, work: EndedWork): RunEnd {
  const ended = endOf(exit);
  if (exit.rejected !== null) return ended("rejected", exit.rejected);
  if (stopped !== null && stopped !== "interrupted") {
    const end = ended(stopped, stopReason[stopped](exit, work));
    const { supersededBy } = work;
    return stopped === "superseded" && supersededBy != null ? { ...end, supersededBy } : end;
  }
  if (exit.lost === true) return ended("lost", exit.error);
  if (exit.outOfMemory && exit.exitCode !== 0) {
    return ended("out_of_memory", "ran out of memory (the limit is [local].memory)");
  }
  if (exit.stopped === true) return ended("stopped", exit.error);
  const isFine = exit.exitCode === 0 && exit.error === null;
  return isFine ? howItSucceeded(exit, stopped, work) : howItFailed(exit, stopped, work);
}

function howItSucceeded(exit: RunnerExit, stopped: StopReason | null, work: EndedWork): RunEnd {
  const { unanswered = null } = work;
  if (unanswered === null) return endOf(exit)("succeeded", null);
  // Otherwise the scheduler's stop ended the wait for the answer.
  if (stopped === null) return endOf(exit)("unanswered", unanswered);
  return howItFailed(exit, stopped, work);
}

function howItFailed(
  exit: RunnerExit,
  stopped: StopReason | null,
  { item, overBudget = null, isKeyRefused = false }: EndedWork,
): RunEnd {
  const ended = endOf(exit);
  // Checked before an interruption: the work is not retried, as the retry would be rejected, too.
  if (overBudget !== null) return ended("over_budget", overBudget);
  if (stopped === "interrupted") return ended("interrupted", interruptedReason(item, exit));
  const failed = { ...ended("failed", failedReason(exit)), exitCode: failedCode(exit) };
  return isKeyRefused ? { ...failed, isKeyRefused } : failed;
}

function endOf({ usage }: RunnerExit) {
  return (outcome: Outcome, reason: string | null): RunEnd => {
    const { exitCode = null } = outcomeRows[outcome];
    return { outcome, exitCode, reason, usage };
  };
}

/** Why a run ended that the scheduler ended for a reason of its own, whatever its process reports. */
const stopReason: Readonly<
  Record<Exclude<StopReason, "interrupted">, (exit: RunnerExit, work: EndedWork) => string | null>
> = {
  timed_out: (_exit, { agent }) =>
    `ran longer than its timeout of ${agent.timeoutSeconds} s (timeout of the agent, or of [local])`,
  killed: ({ error }) => error,
  unanswered: () => "no person answered its question in time, and it has no default",
  superseded: (_exit, { item, supersededBy }) => supersededText(item, supersededBy ?? ""),
};

/** Why work of a key does not run, or ran no further. */
export function supersededText({ key = "" }: WorkItem, by: string): string {
  return `newer work with its key ${JSON.stringify(key)} took its place: ${by}`;
}

function interruptedReason(item: WorkItem, { neverBegan = false }: RunnerExit): string {
  if (neverBegan) return "the scheduler was stopped before the run began; its work waits";
  const next = isRetried(item, { outcome: "interrupted" })
    ? "its work is tried once more at the next start"
    : "its work is not retried, because this was the second attempt";
  return `the scheduler was stopped before the run was done; ${next}`;
}

/** Exit codes that an engine or a shell gives for a process ended by TERM or KILL. */
const signalCodes: readonly (number | null)[] = [137, 143];

/** Whether TERM or KILL ended the run: a machine that shuts down sends both to runs and scheduler alike. */
export function isEndedBySignal({ exitCode, signal, outOfMemory }: RunnerExit): boolean {
  if (outOfMemory) return false;
  return signal === "SIGTERM" || signal === "SIGKILL" || signalCodes.includes(exitCode);
}

/**
 * The stop reason of a run that ended while no scheduler ran: a timeout is judged by when it ended, not by when that was
 * noticed. Times are epoch ms.
 */
export function reasonInTime(
  { endedAt }: RunnerExit,
  stopped: StopReason | null,
  { deadline, supersededAt }: { readonly deadline: number; readonly supersededAt: number },
): StopReason | null {
  if (endedAt === undefined || stopped === "killed") return stopped;
  if (stopped === "superseded" && endedAt >= supersededAt) return stopped;
  if (endedAt >= deadline) return "timed_out";
  if (stopped === "superseded") return null;
  return stopped === "timed_out" ? null : stopped;
}

function failedCode(exit: RunnerExit): number {
  return exit.exitCode === null || exit.exitCode === 0 ? 1 : exit.exitCode;
}

function failedReason(exit: RunnerExit): string {
  if (exit.error !== null) return exit.error;
  return exit.signal === null
    ? `exited with code ${exit.exitCode ?? 1}`
    : `ended by ${exit.signal}`;
}
