import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { graceFor } from "../../wire/run-stop.ts";
import type { RunSubscriber } from "../as-run.ts";
import type { RunOutput } from "../run-output.ts";
import type { HostUserContext } from "./host-user-options.ts";
import { sendOrder, userOf, type SupervisorStart } from "../../wire/supervisor-process.ts";
import { isAlive, type ProcessIdentity } from "./process-identity.ts";
import { logPathOf, workDirOf } from "./run-files.ts";
import { killSignal, type SupervisorOrder } from "../../wire/supervisor-order.ts";
import { blockedExit, endedExit, rejectedExit } from "../run-exit.ts";
import { openWarning } from "./closed-network.ts";
import { parseRunLogLine, recordIn, maxTextBytes } from "./run-log.ts";
import type { EndRecord, BeginRecord } from "./run-log.ts";
import { constants, watch, type FSWatcher } from "node:fs";
import { open } from "node:fs/promises";
import { lineSplitter } from "../../wire/lines.ts";

/** A run whose supervisor was started, by this or an earlier scheduler. */
export interface SupervisedRun {
  readonly request: RunRequest;
  readonly start: SupervisorStart;
  readonly process: ProcessIdentity;
  /** Resolves when that process is gone. */
  readonly over: Promise<unknown>;
  readonly output: RunOutput;
}

/** How following a run ends. */
export type Followed =
  | { readonly type: "exit"; readonly exit: RunnerEvent }
  /** The subscriber unsubscribed; the run is being killed. */
  | { readonly type: "left" }
  /** The supervisor ended before the run began; `lines` has the reason, if known. */
  | { readonly type: "not-begun"; readonly lines: readonly string[] }
  /** The supervisor ended without a record. */
  | { readonly type: "gone" };

/** Follows a run's log to its end, and ends the run on request. */
export async function followRun(
  run: SupervisedRun,
  { stopping, left }: RunSubscriber,
  options: HostUserContext,
): Promise<Followed> {
  const { instanceId, agent } = run.request;
  const { baseDir } = options;
  const control = runControl({
    instanceId,
    graceMs: graceFor(agent, options.graceMs),
    process: run.process,
    workDir: workDirOf(baseDir, instanceId),
    send: (order) =>
      void sendOrder(run.start, order).then((problem) => warnOf(instanceId, problem)),
  });
  const account = runAccount(run.output, {
    onBegin: (record) => options.isolatedUsers.note(userOf(agent.runtime.runAs), record),
    onEnd: control.ended,
  });
  onAbort(stopping, control.stop);
  onAbort(left, control.kill);
  void run.over.then(control.done);
  await followRunLog(logPathOf(baseDir, instanceId), {
    onLine: account.take,
    over: run.over,
    left,
  });
  if (left.aborted) return { type: "left" };
  const exit = account.exit();
  if (exit !== null) return { type: "exit", exit };
  const lines = account.notBegun();
  return lines === null ? { type: "gone" } : { type: "not-begun", lines };
}

function onAbort(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action();
  else signal.addEventListener("abort", action, { once: true });
}

function warnOf(instanceId: string, problem: string | null): void {
  if (problem !== null) process.emitWarning(`run ${instanceId} could not be ended: ${problem}`);
}

interface ControlOptions {
  readonly instanceId: string;
  readonly workDir: string;
  /** The process started by the scheduler: sudo, which forwards signals, or the supervisor itself. */
  readonly process: ProcessIdentity;
  readonly graceMs: number;
  /** Sends an order to a supervisor that this user may not signal. */
  readonly send: (order: SupervisorOrder) => void;
}

/** How long a supervisor may take to kill before the scheduler bypasses it, in ms. */
const supervisorMs = 2000;
/** How long a supervisor may take to exit after its run has ended, in ms: Node rarely hangs while it ends its threads. */
const exitMs = 5000;

/** Ends a run by signals to its supervisor, or by orders if signals are not permitted. */
function runControl(options: ControlOptions) {
  const { instanceId, workDir, send } = options;
  const timers = new Set<NodeJS.Timeout>();
  let over = false;
  const after = (ms: number, action: () => void) => {
    if (!over) timers.add(setTimeout(action, ms));
  };
  const signal = (name: NodeJS.Signals, otherwise: SupervisorOrder) => {
    if (over || !isAlive(options.process)) return;
    try {
      process.kill(options.process.pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EPERM") send(otherwise);
    }
  };
  const end: SupervisorOrder = { order: "end", instanceId, workDir };
  const kill = () => {
    signal(killSignal, end);
    after(supervisorMs, () => {
      if (isAlive(options.process)) send(end);
      signal("SIGKILL", end);
    });
  };
  return {
    /** TERM, and KILL after the grace period. */
    stop: () => {
      signal("SIGTERM", { order: "signal", instanceId, signal: "SIGTERM" });
      after(options.graceMs, kill);
    },
    kill,
    /** The log has the run's end. */
    ended: () => after(exitMs, () => signal("SIGKILL", end)),
    /** Stops all signals and orders, as the run has ended. */
    done: () => {
      over = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Limit of a failed start's lines. */
const maxLinesBefore = 5;

interface AccountHandlers {
  /** Called with the run's isolation. */
  readonly onBegin: (record: BeginRecord) => void;
  readonly onEnd: () => void;
}

/** Passes a run's output on to `output`, and stores its end. */
function runAccount(output: RunOutput, { onBegin, onEnd }: AccountHandlers) {
  let begun = false;
  let end: { readonly record: EndRecord; readonly time: number } | null = null;
  const linesBefore: string[] = [];

  const stray = (line: string) => {
    if (begun) output.line("stderr", line, Date.now());
    else if (line.trim() !== "" && linesBefore.length < maxLinesBefore)
      linesBefore.push(line.trim());
  };
  const begin = (text: string, time: number) => {
    begun = true;
    const record = recordIn(text) as BeginRecord | null;
    if (record === null) return;
    onBegin(record);
    const { unconfined, notClosed = null } = record;
    if (unconfined !== null) output.line("stderr", unconfinedWarning(unconfined), time);
    if (notClosed !== null) output.line("stderr", openWarning(notClosed), time);
  };

  return {
    take: (line: string): void => {
      const parsed = parseRunLogLine(line);
      if (parsed === null) return stray(line);
      const { kind, text, time } = parsed;
      if (kind === "out") output.line("stdout", text, time);
      if (kind === "err") output.line("stderr", text, time);
      if (kind === "keeper") begin(text, time);
      if (kind !== "end") return;
      const record = recordIn(text) as EndRecord | null;
      if (record !== null) end = { record, time };
      onEnd();
      if (record?.leftover != null) output.line("stderr", leftoverWarning(record.leftover), time);
    },
    /** The exit in the log; null if the log has no end. */
    exit: () => (end === null ? null : recordedExit(end.record, end.time, output)),
    /** Null if the run began; otherwise the lines instead, such as sudo's reason. */
    notBegun: (): readonly string[] | null => (begun ? null : linesBefore),
  };
}

function unconfinedWarning(why: string): string {
  return `the kernel gives this run no PID namespace (${why}): a process that leaves its session and cleans its environment may outlive it`;
}

function leftoverWarning(why: string): string {
  return `the run's working directory could not be removed: ${why}`;
}

function recordedExit(record: EndRecord, endedAt: number, output: RunOutput): RunnerEvent {
  const { exitCode, signal, rejected, blocked = false } = record;
  if (rejected !== null) return blocked ? blockedExit(rejected) : rejectedExit(rejected);
  const ending = { exitCode, signal, outOfMemory: false, endedAt };
  return endedExit(ending, output.end(), output.handedBack());
}

interface FollowRunLogOptions {
  readonly onLine: (line: string) => void;
  /** Resolves when the last writer has ended; the file is still read to its end. */
  readonly over: Promise<unknown>;
  /** Aborted when the reader unsubscribes. */
  readonly left: AbortSignal;
}

const chunkBytes = 64 * 1024;
/** Bytes for the time and the kind of a line. */
const prefixBytes = 64;
/** How often the file is read without a reported change, in ms. */
const checkEveryMs = 250;

/** Reads a run's log from its beginning, line by line, until the run has ended. Rejects if the log can't be read. */
async function followRunLog(path: string, { onLine, over, left }: FollowRunLogOptions) {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const buffer = Buffer.alloc(chunkBytes);
  const lines = lineSplitter(maxTextBytes + prefixBytes, onLine);
  const ended = new AbortController();
  let change = Promise.withResolvers<undefined>();
  const wake = () => change.resolve(undefined);
  const watcher = watched(path, wake);
  const timer = setInterval(wake, checkEveryMs);
  void over.then(() => {
    ended.abort();
    wake();
  });
  left.addEventListener("abort", wake);
  try {
    while (!left.aborted) {
      // The end and the next change are noted before the read, so that a change during the read causes another one.
      const wasOver = ended.signal.aborted;
      change = Promise.withResolvers();
      const { bytesRead } = await file.read(buffer, 0, chunkBytes);
      if (bytesRead > 0) lines.push(buffer.subarray(0, bytesRead));
      else if (wasOver) break;
      else await change.promise;
    }
    if (!left.aborted) lines.end();
  } finally {
    clearInterval(timer);
    watcher?.close();
    await file.close();
  }
}

/** Without a watcher, of which the system has few, only the timer triggers reads. */
function watched(path: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(path, onChange).on("error", () => undefined);
  } catch {
    return null;
  }
}
