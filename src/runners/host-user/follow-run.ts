import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { graceFor } from "../../contracts/run-stop.ts";
import type { Life } from "../as-run.ts";
import { runOutput } from "../run-output.ts";
import { followLog } from "./follow-log.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { sendOrder } from "./supervisor-process.ts";
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
  readonly redact: (text: string) => string;
  readonly emit: (event: RunnerEvent) => void;
}

/** How following a run ends. */
export type Followed =
  | { readonly type: "exit"; readonly exit: RunnerEvent }
  /** Its subscriber left; it is being killed. */
  | { readonly type: "left" }
  /** The supervisor went away before the run began; `said` is why, as far as it is known. */
  | { readonly type: "not-begun"; readonly said: readonly string[] }
  /** The supervisor went away without a word. */
  | { readonly type: "gone" };

/** Follows a run's log to its end, and ends the run when it is asked to. */
export async function followRun(
  run: SupervisedRun,
  { stopping, left }: Life,
  options: HostUserOptions,
): Promise<Followed> {
  const { instanceId, agent } = run.request;
  const { baseDir, onCooldown } = options;
  const graceMs = graceFor(agent, options.graceMs);
  const { request, redact, emit } = run;
  const output = runOutput({ request, redact, emit, onCooldown });
  const account = runAccount(output);
  const control = runControl({
    ...{ instanceId, mark: run.mark, graceMs, process: run.process },
    workDir: workDirOf(baseDir, instanceId),
    send: (order) =>
      void sendOrder(run.start, order).then((problem) => warnOf(instanceId, problem)),
  });
  onAbort(stopping, control.stop);
  onAbort(left, control.kill);
  void run.over.then(control.done);
  await followLog(logPathOf(baseDir, instanceId), { onLine: account.take, over: run.over, left });
  if (left.aborted) return { type: "left" };
  const exit = account.exit();
  if (exit !== null) return { type: "exit", exit };
  const said = account.notBegun();
  return said === null ? { type: "gone" } : { type: "not-begun", said };
}

function onAbort(signal: AbortSignal, what: () => void): void {
  if (signal.aborted) what();
  else signal.addEventListener("abort", what, { once: true });
}

function warnOf(instanceId: string, problem: string | null): void {
  if (problem !== null) process.emitWarning(`run ${instanceId} could not be ended: ${problem}`);
}
