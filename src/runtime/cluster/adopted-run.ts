import { reasonOf } from "../../foundation/errors.ts";
import type { RunToResume } from "../runners/adopt-runs.ts";
import { unlessAborted } from "../runners/as-run.ts";
import type { RunSubscriber } from "../runners/as-run.ts";
import { workDir } from "../runners/container/container-options.ts";
import { lostExit, rejectedExit, stoppedBeforeStart } from "../runners/run-exit.ts";
import { followProcess } from "./follow-process.ts";
import type { ClusterContext, FollowedRun } from "./follow-process.ts";
import { numberOf } from "./received-lines.ts";

/** A run of an earlier scheduler to its exit. Its lease begins anew: while no scheduler was there, none could answer it. */
export async function adoptedRun(
  { request, last }: RunToResume,
  subscriber: RunSubscriber,
  context: ClusterContext,
): Promise<void> {
  const { instanceId } = request;
  const { emit } = subscriber;
  const record = await context.records.read(instanceId);
  try {
    if (record === null) return emit(lostExit("the record of the run is gone"));
    if (record.exit !== null) {
      emit(record.exit);
      await context.recorded?.();
      return;
    }
    // Made again: for the secrets in it, and for the claimer that has not come yet.
    const job = context.prepare(request, workDir);
    const logged = last === null ? 0 : numberOf(last);
    const run: FollowedRun = { request, job, record, logged, isAdopted: true };
    if (record.node === null && !(await isPrepared(run, subscriber))) return;
    await followProcess(run, subscriber, context, () => Promise.resolve());
  } finally {
    await context.leftovers.remove(instanceId);
  }
}

/** Emits the exit of an unclaimed run whose job can't be made any more. */
async function isPrepared({ job }: FollowedRun, { emit, stopping, left }: RunSubscriber) {
  try {
    const over = AbortSignal.any([stopping, left]);
    if ((await unlessAborted(job, over)) !== null) return true;
    emit(stoppedBeforeStart);
  } catch (error) {
    emit(rejectedExit(reasonOf(error)));
  }
  return false;
}
