import { stoppedBeforeStart } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { reasonOf, Problem } from "../../foundation/errors.ts";
import { isUnreachable } from "../runners/container/engine.ts";
import { unlessAborted, type RunSubscriber } from "../runners/as-run.ts";
import { workDir, limitsOf, runEnvironment } from "../runners/container/container-options.ts";
import { failedStart, rejectedExit } from "../runners/run-exit.ts";
import { followProcess, type ClusterContext } from "./follow-process.ts";
import { defaultPollMs } from "./engine-watch.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type { Ticket } from "../wire/remote-protocol.ts";
import { command as program } from "../runners/container/image/dockerfile.ts";
import {
  runName,
  isPartial,
  type AgentImage,
  type Launch,
  type ClusterEngine,
} from "./cluster-engine.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";
import { setTimeout as wait } from "node:timers/promises";

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
    const image = await unlessAborted(context.imageFor(agent), over);
    const job = image && (await unlessAborted(context.prepare(request, workDir), over));
    if (image === null || job === null || over.aborted) return emit(stoppedBeforeStart);
    const launch = launchOf(request, job, image, context);
    attempted = true;
    const record = { agent, leaseSeconds: cluster().leaseSeconds, node: null, exit: null };
    await records.write(instanceId, record);
    const run = { request, job: Promise.resolve(job), record, logged: 0, isAdopted: false };
    await followProcess(run, subscriber, context, async (onWaits) => {
      const startMs = cluster().startTimeoutSeconds * 1000;
      isLaunched = true;
      await startLaunch(launch, { engine, startMs, over, onWaits, pauseMs });
      // Releases the turn to start for the next run: this one may wait long for a machine.
      emit({ type: "ready" });
    });
  } catch (error) {
    emit(isLaunched ? rejectedExit(reasonOf(error)) : failedStart(error, context.projectDir));
  } finally {
    if (attempted) await leftovers.remove(instanceId);
  }
}

/** How an engine starts a run. Its job stays here until it is claimed. */
function launchOf(
  request: RunRequest,
  job: Job,
  image: AgentImage,
  options: ClusterRunnerOptions,
): Launch {
  const { agent, instanceId } = request;
  const { cluster, local, command } = options;
  return {
    name: runName(instanceId),
    instanceId,
    agent: agent.name,
    ...image,
    command: command?.(request) ?? [program, "_remote-run", agent.name, "--project", workDir],
    env: runEnvironment(request),
    ticket: JSON.stringify(ticketOf(instanceId, job, options)),
    limits: limitsOf(agent, local()),
    reserve: cluster().reserve,
    place: agent.runtime.place ?? cluster().place,
  };
}

function ticketOf(
  instanceId: string,
  { channel }: Job,
  { cluster, certificate }: ClusterRunnerOptions,
): Ticket {
  if (channel === null) {
    throw new Problem("no_ticket", "the scheduler made no ticket for the run", "try it again");
  }
  return {
    door: cluster().address,
    certificate: certificate(),
    name: runName(instanceId),
    ticket: channel.token,
  };
}

interface StartLaunchOptions {
  readonly engine: ClusterEngine;
  /** How long to wait for an engine that is away, in ms. */
  readonly startMs: number;
  /** Aborted when the run has ended. */
  readonly over: AbortSignal;
  readonly onWaits: (text: string) => void;
  /** Time between two attempts, in ms. */
  readonly pauseMs: number;
}

/**
 * Starts a run by its engine, and waits while that is away. Resolves when the engine has the run, or the run has ended;
 * rejects with the reason for a person.
 */
export async function startLaunch(launch: Launch, options: StartLaunchOptions): Promise<void> {
  const { engine, startMs, over, onWaits, pauseMs } = options;
  const until = performance.now() + startMs;
  for (let tries = 0; !over.aborted; tries += 1) {
    try {
      await engine.ready();
      if (tries > 0 && (await hasTaken(engine, launch))) return;
      return await engine.start(launch);
    } catch (error) {
      if (!isUnreachable(error) || performance.now() > until) throw error;
      onWaits(`waits for the cluster: ${reasonOf(error)}`);
    }
    await unlessAborted(wait(pauseMs, undefined, { ref: false }), over);
  }
}

/**
 * Whether the engine accepted the run in an earlier attempt, whose answer was lost. Leftovers of an incomplete attempt
 * are removed, as they would block the next one.
 */
async function hasTaken(engine: ClusterEngine, { name }: Launch): Promise<boolean> {
  const run = (await engine.list()).find((each) => each.name === name);
  if (run !== undefined && !isPartial(run)) return true;
  await engine.remove(name);
  return false;
}
