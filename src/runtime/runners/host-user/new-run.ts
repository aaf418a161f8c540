import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { Job } from "../../../foundation/contracts/job.ts";
import { maxWaitsOfRun } from "../../../foundation/contracts/run-api.ts";
import { unlessAborted } from "../as-run.ts";
import type { RunSubscriber } from "../as-run.ts";
import { exitEvent, failedStart, stoppedBeforeStart } from "../run-exit.ts";
import { runOutput } from "../run-output.ts";
import { assertRoom, ownBaseDir } from "./base-dir.ts";
import { followRun } from "./follow-run.ts";
import type { Followed, SupervisedRun } from "./follow-run.ts";
import { startProblem } from "./failed-start.ts";
import type { HostUserContext } from "./host-user-options.ts";
import type { RunOrder } from "./supervisor-order.ts";
import { isOwnUser, sendOrder, startSupervisor, userOf } from "./supervisor-process.ts";
import type { SupervisorStart } from "./supervisor-process.ts";
import { identityOf } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { supervisorStartOf, runEnvironment } from "./run-environment.ts";
import type { PrewarmedWorker } from "./prewarmed-worker.ts";
import { closeLog, createLog, logPathOf, workDirOf, writeRunRecord } from "./run-files.ts";

/** A run whose scheduler is gone ends this much after its timeout, in ms. */
const overtimeMs = 10_000;

/** A run from nothing to its exit; `takeWorker` gives a prewarmed one, where there is one. Its log stays if it began. */
export async function newRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  options: HostUserContext,
  takeWorker: () => PrewarmedWorker | null,
): Promise<void> {
  const exit = await exitOfRun(request, subscriber, options, takeWorker);
  if (exit?.type === "exit" && exit.exit.blocked === true) {
    await rm(logPathOf(options.baseDir, request.instanceId), { force: true });
  }
  if (exit !== null) subscriber.emit(exit);
}

async function exitOfRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  options: HostUserContext,
  takeWorker: () => PrewarmedWorker | null,
): Promise<RunnerEvent | null> {
  const { baseDir, onCooldown } = options;
  const { instanceId, agent } = request;
  const { emit } = subscriber;
  const { runAs } = agent.runtime;
  const over = AbortSignal.any([subscriber.stopping, subscriber.left]);
  const failed = (error: unknown) => failedStart(error, baseDir);
  const made = await unlessAborted(begunJob(request, options).catch(failed), over);
  if (made === null || over.aborted) return stoppedBeforeStart;
  if ("type" in made) return made;
  const job = made;
  const start = supervisorStartOf(agent.name, runAs, options);
  const follow = async (begun: Begun): Promise<Followed> => {
    const { process, mark, over } = begun;
    if (process === null) {
      const error = await over;
      return { type: "not-begun", lines: [error?.message ?? ""], error };
    }
    const redact = options.redactorFor(job);
    const output = runOutput({ request, redact, emit, onCooldown });
    return followRun({ request, start, process, mark, over, output }, subscriber, options);
  };
  let begun = beginInWorker(request, takeWorker(), job, options);
  let followed = begun && (await follow(begun));
  // Nothing was begun by one that ended just then: it is no reason for the run to fail.
  if (followed === null || (followed.type === "not-begun" && !subscriber.stopping.aborted)) {
    if (followed !== null) await rm(logPathOf(baseDir, instanceId), { force: true });
    try {
      begun = begin(request, start, job, options);
    } catch (error) {
      return failed(error);
    }
    followed = await follow(begun);
  }
  return exitOf(followed, { request, start, mark: begun?.mark }, subscriber, options);
}

async function begunJob(request: RunRequest, options: HostUserContext): Promise<Job> {
  await ownBaseDir(options.baseDir, !isOwnUser(request.agent.runtime.runAs));
  await assertRoom(options.baseDir);
  const job = await options.prepare(request, workDirOf(options.baseDir, request.instanceId));
  await options.begin?.(request);
  return job;
}

interface Begun {
  /** Null when it could not be started at all. */
  readonly process: ProcessIdentity | null;
  /** As in the run's record. */
  readonly mark?: string;
  /** Resolves when the process is gone, to why it could not be started. */
  readonly over: Promise<Error | null>;
}

/**
 * Starts the worker. Its order is written after the run's record: a scheduler that dies in between leaves a supervisor
 * that never got its order, and so does nothing.
 */
function begin(
  request: RunRequest,
  start: SupervisorStart,
  job: Job,
  options: HostUserContext,
): Begun {
  const logFd = createLog(logPathOf(options.baseDir, request.instanceId));
  try {
    const child = startSupervisor(start, logFd);
    const over = overOf(child);
    if (child.pid === undefined) return { process: null, over };
    const process = identityOf(child.pid);
    child.stdin?.on("error", () => undefined);
    try {
      writeRunRecord(logFd, { agent: request.agent, project: options.projectDir, process });
    } catch (error) {
      // Without an order, the supervisor ends.
      child.stdin?.destroy();
      throw error;
    }
    child.stdin?.end(orderedRun(request, job, options));
    return { process, over };
  } finally {
    closeLog(logFd);
  }
}

/** As `begin`, with a supervisor that was started before; null where there is none, or its log can't be the run's. */
function beginInWorker(
  request: RunRequest,
  worker: PrewarmedWorker | null,
  job: Job,
  options: HostUserContext,
): Begun | null {
  if (worker === null) return null;
  const { process, mark, child, over } = worker;
  try {
    const logFd = worker.claim(logPathOf(options.baseDir, request.instanceId));
    writeRunRecord(logFd, { agent: request.agent, project: options.projectDir, process, mark });
  } catch {
    worker.end();
    rmSync(logPathOf(options.baseDir, request.instanceId), { force: true });
    return null;
  }
  child.stdin?.write(orderedRun(request, job, options));
  worker.end();
  return { process, mark, over: over.then(() => null) };
}

function overOf(child: ChildProcess): Promise<Error | null> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve(null));
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(error);
    });
  });
}

/** The input of a run's supervisor. */
function orderedRun(request: RunRequest, job: Job, options: HostUserContext): string {
  const { agent, instanceId } = request;
  const network = options.network(agent);
  const order: RunOrder = {
    order: "keep",
    instanceId,
    workDir: workDirOf(options.baseDir, instanceId),
    program: options.program?.(request) ?? options.runAgent(agent.name),
    env: runEnvironment(request, options),
    network,
    mustIsolate: options.isolatedUsers.has(userOf(agent.runtime.runAs), network),
    lifeMs: lifeMs(agent),
  };
  return `${JSON.stringify(order)}\n${JSON.stringify(job)}\n`;
}

/** Time in which a run waits for a trigger does not count as its timeout; all its waits are bounded together. */
function lifeMs({ timeoutSeconds, waitTimeoutSeconds }: AgentConfig): number {
  return (timeoutSeconds + maxWaitsOfRun * waitTimeoutSeconds) * 1000 + overtimeMs;
}

async function exitOf(
  followed: Followed,
  { request: { instanceId }, start, mark }: Pick<SupervisedRun, "request" | "start" | "mark">,
  { stopping }: RunSubscriber,
  { baseDir }: HostUserContext,
): Promise<RunnerEvent | null> {
  switch (followed.type) {
    case "exit":
      return followed.exit;
    case "left":
      return null;
    case "not-begun":
      await rm(logPathOf(baseDir, instanceId), { force: true });
      if (stopping.aborted) return stoppedBeforeStart;
      return failedStart(followed.error, baseDir, startProblem(start, followed.lines));
    case "gone": {
      const workDir = workDirOf(baseDir, instanceId);
      await sendOrder(start, { order: "end", instanceId, mark, workDir });
      return exitEvent({
        signal: "SIGKILL",
        error: "the run's supervisor was ended from outside",
      });
    }
  }
}
