import type { Runner } from "../../../../streams/runs/runner.ts";
import { reasonOf } from "../../../foundation/errors.ts";
import type { Adopter, FoundRun, RunToResume } from "../adopt-runs.ts";
import { asRun, type RunSubscriber } from "../as-run.ts";
import { blockedExit, lostExit, rejectedExit } from "../run-exit.ts";
import { IsolatedUsers, type HostUserOptions, type HostUserContext } from "./host-user-options.ts";
import { newRun } from "./new-run.ts";
import { setTimeout as wait } from "node:timers/promises";
import { adoptedOutput, type RecordedPosition } from "../adopted-output.ts";
import { followRun } from "./follow-run.ts";
import { sendOrder } from "../../wire/supervisor-process.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { supervisorStartOf } from "./run-environment.ts";
import { logPathOf, readEndRecord, readRunRecord, workDirOf } from "./run-files.ts";

/**
 * Runs each agent as an OS user: through sudo, or as the scheduler's own (`run_as = "$USER"`). A run outlives a dead
 * scheduler; its log file has the output that the next one missed.
 */
export function createHostUserRunner(options: HostUserOptions): Runner & Adopter {
  const context = { ...options, isolatedUsers: new IsolatedUsers() };
  return {
    run: (request, stop$) =>
      asRun(
        stop$,
        (subscriber) => newRun(request, subscriber, context),
        (error) => rejectedExit(reasonOf(error)),
      ),
    resume: (run, stop$) =>
      asRun(
        stop$,
        (subscriber) => adoptedRun(run, subscriber, context),
        (error) => lostExit(reasonOf(error)),
      ),
    adopt: (instanceIds) => findRuns(instanceIds, options),
  };
}

/** The instances that live, or whose end was not observed; remains of others are ended and removed. */
async function findRuns(
  instanceIds: readonly string[],
  options: HostUserOptions,
): Promise<readonly FoundRun[]> {
  const found = await Promise.all(instanceIds.map((id) => findRun(id, options)));
  return found.filter((run) => run !== null);
}

async function findRun(instanceId: string, options: HostUserOptions): Promise<FoundRun | null> {
  const path = logPathOf(options.baseDir, instanceId);
  const record = await readRunRecord(path);
  if (record === null) return null;
  const { agent, process } = record;
  if (isAlive(process) || (await readEndRecord(path)) !== null) return { instanceId, agent };
  const start = supervisorStartOf(agent.name, agent.runtime.runAs, options);
  const workDir = workDirOf(options.baseDir, instanceId);
  await sendOrder(start, { order: "end", instanceId, workDir });
  return null;
}

/** A run of an earlier scheduler, from the line after its last logged one to its exit. */
async function adoptedRun(
  run: RunToResume,
  subscriber: RunSubscriber,
  options: HostUserContext,
): Promise<void> {
  const { instanceId, agent } = run.request;
  const { emit } = subscriber;
  const record = await readRunRecord(logPathOf(options.baseDir, instanceId));
  if (record === null) return emit(lostExit("the run's log is gone"));
  const workDir = workDirOf(options.baseDir, instanceId);
  const output = await adoptedOutput(run, { position, emit, workDir }, options);
  const start = supervisorStartOf(agent.name, agent.runtime.runAs, options);
  const { process } = record;
  const supervised = { request: run.request, start, process, over: gone(process), output };
  const followed = await followRun(supervised, subscriber, options);
  if (followed.type === "left") return;
  if (followed.type === "exit") return emit(followed.exit);
  await sendOrder(start, { order: "end", instanceId, workDir });
  if (followed.type === "not-begun") {
    return emit(blockedExit("the scheduler ended before the run began"));
  }
  emit(lostExit("the run's supervisor ended while no scheduler was running"));
}

/** How often a process that is not our child is checked, in ms. */
const checkEveryMs = 100;

async function gone(process: ProcessIdentity): Promise<void> {
  while (isAlive(process)) await wait(checkEveryMs);
}

/** Beyond this difference the position was missed: clocks of a run's processes differ by less, in ms. */
const marginMs = 5000;

const position: RecordedPosition = {
  isLast: (entry, last) => entry.time === last.time && entry.msg === last.msg,
  isLater: (entry, last) => entry.time > last.time + marginMs,
};
