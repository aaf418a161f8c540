import type { ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { AgentConfig, RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../contracts/job.ts";
import { maxWaitsOfRun } from "../../contracts/run-channel.ts";
import type { Life } from "../as-run.ts";
import { unlessAborted } from "../container/abortable.ts";
import { stoppedBeforeStart } from "../container/run-exit.ts";
import { rejectedExit } from "../rejecting.ts";
import { ownBaseDir } from "./base-dir.ts";
import { followRun } from "./follow-run.ts";
import type { Followed } from "./follow-run.ts";
import { goneExit, startProblem } from "./failed-start.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import type { KeepOrder } from "./keeper-order.ts";
import { isOneself, sendOrder, startKeeper } from "./keeper-process.ts";
import type { KeeperStart } from "./keeper-process.ts";
import { identityOf } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { keeperStartOf, runEnvironment } from "./run-environment.ts";
import { closeLog, createLog, logPathOf, workDirOf, writeRunRecord } from "./run-files.ts";

/** Bytes of a run's log file. */
const maxLogBytes = 50 * 1024 * 1024;
/** A run whose scheduler is gone ends this much after its timeout, in ms. */
const overtimeMs = 10_000;

/** A run from nothing to its exit. */
export async function newRun(
  request: RunRequest,
  life: Life,
  options: HostUserOptions,
): Promise<void> {
  const { baseDir } = options;
  const { instanceId, agent } = request;
  const { runAs } = agent.runtime;
  await ownBaseDir(baseDir, !isOneself(runAs));
  const over = AbortSignal.any([life.stopping, life.left]);
  const job = await unlessAborted(options.prepare(request, workDirOf(baseDir, instanceId)), over);
  if (job === null || over.aborted) return life.emit(stoppedBeforeStart);
  const start = keeperStartOf(agent.name, runAs, options);
  const begun = begin(request, start, job, options);
  const { process } = begun;
  const followed: Followed =
    process === null
      ? { type: "not-begun", said: [(await begun.over) ?? ""] }
      : await followRun(
          {
            ...{ request, start, process, over: begun.over, emit: life.emit },
            redact: options.redactorFor(job),
          },
          life,
          options,
        );
  const exit = await exitOf(followed, request, start, life, options);
  if (exit !== null) life.emit(exit);
}

interface Begun {
  /** Null when it could not be started at all. */
  readonly process: ProcessIdentity | null;
  /** Resolves when the process is gone, to why it could not be started. */
  readonly over: Promise<string | null>;
}

/**
 * Starts the keeper. Its order is written after the run's record: a scheduler that dies in between leaves a keeper
 * that never got its order, and so does nothing.
 */
function begin(request: RunRequest, start: KeeperStart, job: Job, options: HostUserOptions): Begun {
  const logFd = createLog(logPathOf(options.baseDir, request.instanceId));
  try {
    const child = startKeeper(start, logFd);
    const over = overOf(child);
    if (child.pid === undefined) return { process: null, over };
    const process = identityOf(child.pid);
    writeRunRecord(logFd, { agent: request.agent, process });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`${JSON.stringify(keepOrder(request, options))}\n${JSON.stringify(job)}\n`);
    return { process, over };
  } finally {
    closeLog(logFd);
  }
}

function overOf(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve(null));
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(error.message);
    });
  });
}

function keepOrder(request: RunRequest, options: HostUserOptions): KeepOrder {
  const { agent, instanceId } = request;
  return {
    order: "keep",
    instanceId,
    workDir: workDirOf(options.baseDir, instanceId),
    program: options.program?.(request) ?? options.runAgent(agent.name),
    env: runEnvironment(request, options),
    lifeMs: lifeMs(agent),
    maxLogBytes,
  };
}

/** Time in which a run waits for a trigger is none of its timeout, and all its waits are bounded together. */
function lifeMs({ timeoutSeconds, waitTimeoutSeconds }: AgentConfig): number {
  return (timeoutSeconds + maxWaitsOfRun * waitTimeoutSeconds) * 1000 + overtimeMs;
}

async function exitOf(
  followed: Followed,
  { instanceId }: RunRequest,
  start: KeeperStart,
  life: Life,
  { baseDir }: HostUserOptions,
): Promise<RunnerEvent | null> {
  switch (followed.type) {
    case "exit":
      return followed.exit;
    case "left":
      return null;
    case "not-begun":
      // Nothing ran that a log could tell of.
      await rm(logPathOf(baseDir, instanceId), { force: true });
      if (life.stopping.aborted) return stoppedBeforeStart;
      return rejectedExit(startProblem(start, followed.said));
    case "gone":
      await sendOrder(start, { order: "end", instanceId, workDir: workDirOf(baseDir, instanceId) });
      return goneExit;
  }
}
