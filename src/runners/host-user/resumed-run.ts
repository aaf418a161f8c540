import { setTimeout as wait } from "node:timers/promises";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import type { Life } from "../as-run.ts";
import { eventsAfter } from "../events-after.ts";
import type { RecordedPlace } from "../events-after.ts";
import { redactorOf } from "../redactor-of.ts";
import { lostExit } from "../run-exit.ts";
import { followRun } from "./follow-run.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { sendOrder } from "./supervisor-process.ts";
import { isAlive } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { supervisorStartOf } from "./run-environment.ts";
import { logPathOf, readRunRecord, workDirOf } from "./run-files.ts";

const supervisorGone = "what kept the run went away while no scheduler was there";

/** A run of an earlier scheduler, from the line after `last` to its exit. */
export async function resumedRun(
  request: RunRequest,
  last: LogEntry | null,
  life: Life,
  options: HostUserOptions,
): Promise<void> {
  const { instanceId, agent } = request;
  const record = await readRunRecord(logPathOf(options.baseDir, instanceId));
  if (record === null) return life.emit(lostExit("the run's log is gone", null));
  const workDir = workDirOf(options.baseDir, instanceId);
  const redact = await redactorOf(request, workDir, options);
  const start = supervisorStartOf(agent.name, agent.runtime.runAs, options);
  const over = gone(record.process);
  const emit = eventsAfter(last, place, life.emit);
  const { process, mark } = record;
  const run = { request, start, process, mark, over, redact, emit };
  const followed = await followRun(run, life, options);
  if (followed.type === "left") return;
  if (followed.type === "exit") return life.emit(followed.exit);
  await sendOrder(start, { order: "end", instanceId, mark, workDir });
  life.emit(lostExit(supervisorGone, null));
}

/** How often a process that is not our child is looked at, in ms. */
const checkEveryMs = 100;

async function gone(process: ProcessIdentity): Promise<void> {
  while (isAlive(process)) await wait(checkEveryMs);
}

/** Beyond this the place was missed: clocks of a run's processes differ by less, in ms. */
const marginMs = 5000;

const place: RecordedPlace = {
  isLast: (entry, last) => entry.time === last.time && entry.msg === last.msg,
  isLater: (entry, last) => entry.time > last.time + marginMs,
};
