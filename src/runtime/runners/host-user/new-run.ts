import { exitEvent, stoppedBeforeStart } from "../../../../streams/runs/runner.ts";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { questionLimits } from "../../../foundation/contracts/question-kinds.ts";
import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { Job } from "../../../foundation/contracts/job.ts";
import { maxWaitsOfRun } from "../../wire/protocol.ts";
import { unlessAborted, type RunSubscriber } from "../as-run.ts";
import { failedStart } from "../run-exit.ts";
import { runOutput } from "../run-output.ts";
import { assertRoom, ownBaseDir } from "./base-dir.ts";
import { followRun } from "./follow-run.ts";
import type { HostUserContext } from "./host-user-options.ts";
import type { RunOrder } from "../../wire/supervisor-order.ts";
import { isOwnUser, sendOrder, startSupervisor, userOf } from "../../wire/supervisor-process.ts";
import type { SupervisorStart } from "../../wire/supervisor-process.ts";
import { identityOf, type ProcessIdentity } from "./process-identity.ts";
import { supervisorStartOf, runEnvironment } from "./run-environment.ts";
import { closeLog, createLog, logPathOf, workDirOf, writeRunRecord } from "./run-files.ts";

/** How long after its timeout a run without a scheduler ends, in ms. */
const overtimeMs = 10_000;

/** A new run until its exit. Its log stays if it began. */
export async function newRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  options: HostUserContext,
): Promise<void> {
  const exit = await exitOfRun(request, subscriber, options);
  if (exit?.type === "exit" && exit.exit.blocked === true) {
    await rm(logPathOf(options.baseDir, request.instanceId), { force: true });
  }
  if (exit !== null) subscriber.emit(exit);
}

async function exitOfRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  options: HostUserContext,
): Promise<RunnerEvent | null> {
  const { baseDir, onCooldown } = options;
  const { instanceId, agent } = request;
  const { emit } = subscriber;
  const { runAs } = agent.runtime;
  const over = AbortSignal.any([subscriber.stopping, subscriber.left]);
  const failed = (error: unknown) => failedStart(error, baseDir);
  const start = supervisorStartOf(agent.name, runAs, options);
  let supervisor: Supervisor;
  try {
    await ownBaseDir(baseDir, !isOwnUser(runAs));
    await assertRoom(baseDir);
    supervisor = startedSupervisor(request, start, options);
  } catch (error) {
    return failed(error);
  }
  const { process, stdin, over: gone } = supervisor;
  if (process === null) return notBegun(request, start, subscriber, baseDir, [], await gone);
  // The supervisor makes the run's namespaces meanwhile.
  const made = await unlessAborted(begunJob(request, options).catch(failed), over);
  if (made === null || over.aborted || "type" in made) {
    await endWithoutJob(supervisor);
    await removeRemains(instanceId, start, baseDir);
    return made !== null && "type" in made && !over.aborted ? made : stoppedBeforeStart;
  }
  stdin?.end(`${JSON.stringify(made)}\n`);
  const redact = options.redactorFor(made);
  const output = runOutput({ request, redact, emit, onCooldown });
  const run = { request, start, process, over: gone, output };
  const followed = await followRun(run, subscriber, options);
  switch (followed.type) {
    case "exit":
      return followed.exit;
    case "left":
      return null;
    case "not-begun":
      return notBegun(request, start, subscriber, baseDir, followed.lines, null);
    case "gone": {
      const workDir = workDirOf(baseDir, instanceId);
      await sendOrder(start, { order: "end", instanceId, workDir });
      return exitEvent({
        signal: "SIGKILL",
        error: "the run's supervisor was killed from outside",
      });
    }
  }
}

/** The exit of a run whose supervisor ended before it began; `lines` or `error` has the reason. */
async function notBegun(
  { instanceId }: RunRequest,
  start: SupervisorStart,
  { stopping }: RunSubscriber,
  baseDir: string,
  lines: readonly string[],
  error: Error | null,
): Promise<RunnerEvent> {
  await removeRemains(instanceId, start, baseDir);
  if (stopping.aborted) return stoppedBeforeStart;
  return failedStart(error, baseDir, startProblem(start, error === null ? lines : [error.message]));
}

/** How long a supervisor without a job may take to end by itself, and again to be killed, in ms. */
const unbegunMs = 1000;

/** Ends a supervisor that gets no job. Of sudo, which may not be killed, it does not wait longer: that begins no run. */
async function endWithoutJob({ stdin, over, kill }: Supervisor): Promise<void> {
  const isOver = () =>
    Promise.race([over.then(() => true), wait(unbegunMs, false, { ref: false })]);
  stdin?.destroy();
  if (await isOver()) return;
  kill();
  await isOver();
}

/** Removes the log of a run that never began, and the folder left by a supervisor that was killed. */
async function removeRemains(
  instanceId: string,
  start: SupervisorStart,
  baseDir: string,
): Promise<void> {
  await rm(logPathOf(baseDir, instanceId), { force: true });
  const workDir = workDirOf(baseDir, instanceId);
  if (existsSync(workDir)) await sendOrder(start, { order: "end", instanceId, workDir });
}

async function begunJob(request: RunRequest, options: HostUserContext): Promise<Job> {
  const job = await options.prepare(request, workDirOf(options.baseDir, request.instanceId));
  await options.begin?.(request);
  return job;
}

interface Supervisor {
  /** Null if the process could not be started. */
  readonly process: ProcessIdentity | null;
  /** The supervisor's input, which begins with the order. Without the job that follows, it ends and starts no run. */
  readonly stdin: ChildProcess["stdin"];
  /** Resolves when the process has ended, to the error if it could not be started. */
  readonly over: Promise<Error | null>;
  /** Kills it, if this user may. */
  readonly kill: () => void;
}

/** Starts the supervisor of a run. Its order is written after the run's record, by which a later scheduler finds it. */
function startedSupervisor(
  request: RunRequest,
  start: SupervisorStart,
  options: HostUserContext,
): Supervisor {
  const order = orderOf(request, options);
  const logFd = createLog(logPathOf(options.baseDir, request.instanceId));
  try {
    const child = startSupervisor(start, logFd);
    const { stdin, pid } = child;
    const over = overOf(child);
    const kill = () => void child.kill("SIGKILL");
    if (pid === undefined) return { process: null, stdin, over, kill };
    const process = identityOf(pid);
    stdin?.on("error", () => undefined);
    try {
      writeRunRecord(logFd, { agent: request.agent, project: options.projectDir, process });
    } catch (error) {
      // Without an order, the supervisor ends.
      stdin?.destroy();
      throw error;
    }
    stdin?.write(`${JSON.stringify(order)}\n`);
    return { process, stdin, over, kill };
  } finally {
    closeLog(logFd);
  }
}

function overOf(child: ChildProcess): Promise<Error | null> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve(null));
    // `error` is also emitted for a kill that is not permitted.
    child.on("error", (error) => {
      if (child.pid === undefined) resolve(error);
    });
  });
}

function orderOf(request: RunRequest, options: HostUserContext): RunOrder {
  const { agent, instanceId } = request;
  const network = options.network(agent);
  return {
    order: "keep",
    instanceId,
    workDir: workDirOf(options.baseDir, instanceId),
    program: options.program?.(request) ?? options.runAgent(agent.name),
    env: runEnvironment(request, options),
    network,
    mustIsolate: options.isolatedUsers.has(userOf(agent.runtime.runAs), network),
    lifeMs: lifeMs(agent),
  };
}

/**
 * When the supervisor ends a run that no scheduler ended, in ms. Waits for triggers, which together are limited, and for
 * the answer of a person do not count toward the timeout.
 */
export function lifeMs({ timeoutSeconds, waitTimeoutSeconds }: AgentConfig): number {
  const waitSeconds = maxWaitsOfRun * waitTimeoutSeconds + questionLimits.seconds;
  return (timeoutSeconds + waitSeconds) * 1000 + overtimeMs;
}

/** Why a run did not begin, with a hint, from the lines of sudo or the program itself. */
export function startProblem(
  { runAs, program }: SupervisorStart,
  lines: readonly string[],
): string {
  // The line with the reason, among a stack trace or consequences.
  const line = lines.find((each) => /^sudo: |Error: |ENOENT/.test(each)) ?? lines.join("; ");
  const why = line === "" ? "no reason was given" : line;
  if (isOwnUser(runAs)) return `the run's process cannot be started: ${why}`;
  return `no run as OS user "${runAs}": ${why}; ${remedy(line, runAs, [program.file, ...program.args])}`;
}

function remedy(line: string, runAs: string, [file, al]: readonly string[]): string {
  if (/ENOENT/.test(line)) return `install sudo, or use run_as = "$USER"`;
  if (/unknown user/.test(line))
    return `"al doctor" creates the user, or: sudo useradd --system ${runAs}`;
  if (/password|not allowed|may not run|sudoers/.test(line)) {
    return `"al doctor" writes the sudoers rule that allows it`;
  }
  return `"${runAs}" must be able to read and run ${file} and ${al ?? "al"}: install both where every user can`;
}
