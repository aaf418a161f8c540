import { setTimeout as wait } from "node:timers/promises";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { messageOf } from "../../errors.ts";
import type { Life } from "../as-run.ts";
import { lostExit } from "../container/run-exit.ts";
import { followRun } from "./follow-run.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { sendOrder } from "./keeper-process.ts";
import { isAlive } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { keeperStartOf } from "./run-environment.ts";
import { logPathOf, readRunRecord, workDirOf } from "./run-files.ts";

const nobodyKnows = "what kept the run went away while no scheduler was there";

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
  // Only for the secrets in it: they were read anew, and are what the run was given unless they changed since.
  const redact = await options.prepare(request, workDir).then(options.redactorFor, withhold);
  const start = keeperStartOf(agent.name, agent.runtime.runAs, options);
  const over = gone(record.process);
  const emit = eventsAfter(last, life.emit);
  const { process, mark } = record;
  const run = { request, start, process, mark, over, redact, emit };
  const followed = await followRun(run, life, options);
  if (followed.type === "left") return;
  if (followed.type === "exit") return life.emit(followed.exit);
  await sendOrder(start, { order: "end", instanceId, mark, workDir });
  life.emit(lostExit(nobodyKnows, null));
}

/** How often a process that is not our child is looked at, in ms. */
const checkEveryMs = 100;

async function gone(process: ProcessIdentity): Promise<void> {
  while (isAlive(process)) await wait(checkEveryMs);
}

/** Without its job nobody knows which words are secret. */
function withhold(error: unknown): (text: string) => string {
  return () => `(not shown, as its secrets are not known: ${messageOf(error)})`;
}

/** Beyond this the place was missed: clocks of a run's processes differ by less, in ms. */
const marginMs = 5000;

/** Hands on log lines from the first after `last` on, and everything that is no log line. */
function eventsAfter(
  last: LogEntry | null,
  emit: (event: RunnerEvent) => void,
): (event: RunnerEvent) => void {
  let past = last === null;
  return (event) => {
    if (past || last === null || event.type !== "output") return emit(event);
    const { time, msg } = event.entry;
    past = time === last.time && msg === last.msg;
    if (past || time <= last.time + marginMs) return;
    past = true;
    emit(event);
  };
}
