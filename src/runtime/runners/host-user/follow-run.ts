import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { graceFor } from "../../../foundation/contracts/run-stop.ts";
import type { RunSubscriber } from "../as-run.ts";
import type { RunOutput } from "../run-output.ts";
import { followRunLog } from "./follow-run-log.ts";
import type { HostUserContext } from "./host-user-options.ts";
import { sendOrder, userOf } from "./supervisor-process.ts";
import type { SupervisorStart } from "./supervisor-process.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { runAccount } from "./run-account.ts";
import { runControl } from "./run-control.ts";
import { logPathOf, workDirOf } from "./run-files.ts";

/** A run whose supervisor was started, now or by an earlier scheduler. */
export interface SupervisedRun {
  readonly request: RunRequest;
  readonly start: SupervisorStart;
  readonly process: ProcessIdentity;
  /** As in the run's record. */
  readonly mark?: string | undefined;
  /** Resolves when that process is gone. */
  readonly over: Promise<unknown>;
  readonly output: RunOutput;
}

/** How following a run ends. */
export type Followed =
  | { readonly type: "exit"; readonly exit: RunnerEvent }
  /** Its subscriber unsubscribed; it is being killed. */
  | { readonly type: "left" }
  /** The supervisor went away before the run began; `lines` has the reason, as far as it is known, or `error`. */
  | { readonly type: "not-begun"; readonly lines: readonly string[]; readonly error: Error | null }
  /** The supervisor went away without a record. */
  | { readonly type: "gone" };

/** Follows a run's log to its end, and ends the run when it is asked to. */
export async function followRun(
  run: SupervisedRun,
  { stopping, left }: RunSubscriber,
  options: HostUserContext,
): Promise<Followed> {
  const { instanceId, agent } = run.request;
  const { baseDir } = options;
  const account = runAccount(run.output, (record) =>
    options.isolatedUsers.note(userOf(agent.runtime.runAs), record),
  );
  const control = runControl({
    instanceId,
    mark: run.mark,
    graceMs: graceFor(agent, options.graceMs),
    process: run.process,
    workDir: workDirOf(baseDir, instanceId),
    send: (order) =>
      void sendOrder(run.start, order).then((problem) => warnOf(instanceId, problem)),
  });
  onAbort(stopping, control.stop);
  onAbort(left, control.kill);
  void run.over.then(control.done);
  await followRunLog(logPathOf(baseDir, instanceId), {
    onLine: account.take,
    over: run.over,
    left,
  });
  if (left.aborted) return { type: "left" };
  const exit = account.exit();
  if (exit !== null) return { type: "exit", exit };
  const lines = account.notBegun();
  return lines === null ? { type: "gone" } : { type: "not-begun", lines, error: null };
}

function onAbort(signal: AbortSignal, what: () => void): void {
  if (signal.aborted) what();
  else signal.addEventListener("abort", what, { once: true });
}

function warnOf(instanceId: string, problem: string | null): void {
  if (problem !== null) process.emitWarning(`run ${instanceId} could not be ended: ${problem}`);
}
