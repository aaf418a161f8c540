import type { RunRequest } from "../../../streams/vocabulary.ts";
import { reasonOf } from "../../foundation/errors.ts";
import { unlessAborted } from "../runners/as-run.ts";
import type { RunSubscriber } from "../runners/as-run.ts";
import { workDir } from "../runners/container/container-options.ts";
import { failedStart, rejectedExit, stoppedBeforeStart } from "../runners/run-exit.ts";
import { followProcess } from "./follow-process.ts";
import type { ClusterContext } from "./follow-process.ts";
import { defaultPollMs } from "./engine-watch.ts";
import { launchOf } from "./launch.ts";
import { startLaunch } from "./start-launch.ts";

/** A run from its image and its job to its exit. */
export async function newRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  context: ClusterContext,
): Promise<void> {
  const { engine, records, cluster, leftovers, pollMs: pauseMs = defaultPollMs } = context;
  const { instanceId, agent } = request;
  const { emit, stopping, left } = subscriber;
  const over = AbortSignal.any([stopping, left]);
  let attempted = false;
  let isLaunched = false as boolean;
  try {
    const made = await unlessAborted(ingredients(request, context), over);
    if (made === null || over.aborted) return emit(stoppedBeforeStart);
    const { job, launch } = made;
    attempted = true;
    const record = { agent, leaseSeconds: cluster().leaseSeconds, node: null, exit: null };
    await records.write(instanceId, record);
    const run = { request, job: Promise.resolve(job), record, logged: 0, isAdopted: false };
    await followProcess(run, subscriber, context, async (onWaits) => {
      const startMs = cluster().startTimeoutSeconds * 1000;
      isLaunched = true;
      await startLaunch(launch, { engine, startMs, over, onWaits, pauseMs });
      // The turn to start is the next run's: this one may wait long for a machine.
      emit({ type: "ready" });
    });
  } catch (error) {
    emit(isLaunched ? rejectedExit(reasonOf(error)) : failedStart(error, context.projectDir));
  } finally {
    if (attempted) await leftovers.remove(instanceId);
  }
}

async function ingredients(request: RunRequest, context: ClusterContext) {
  const { imageFor, prepare } = context;
  const image = await imageFor(request.agent);
  const job = await prepare(request, workDir);
  return { job, launch: launchOf(request, job, image, context) };
}
