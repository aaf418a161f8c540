import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { longestTimerMs } from "../../../../streams/longest-timer.ts";
import { lineSplitter } from "../../wire/lines.ts";
import { machineFault } from "../../wire/machine-fault.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { killRun, signalGroup } from "../../wire/marked-processes.ts";
import { startConfined } from "./confined-start.ts";
import { pathWithoutRun } from "./closed-network.ts";
import { isolate, refusalOf, type Isolation, type Refusal } from "./isolation.ts";
import { networkVariable, type RunOrder } from "../../wire/supervisor-order.ts";
import { runLogWriter, type RunLogWriter } from "./run-log-writer.ts";
import { maxTextBytes, type EndRecord } from "./run-log.ts";
import { makeWorkDir, removeWorkDir } from "./work-dir.ts";

/** Stops requested from the supervisor by signals. */
export interface StopRequests {
  readonly now: () => "TERM" | "KILL" | null;
  readonly onRequest: (listener: () => void) => void;
}

export interface SupervisorContext {
  readonly env: NodeJS.ProcessEnv;
  readonly asked: StopRequests;
  /** The open log file. */
  readonly logFd: number;
}

/** How long to wait for the output of an ended process, in ms. */
const lateOutputMs = 1000;
/** Time between TERM and KILL of a run that exceeded its time, in ms. */
const overdueGraceMs = 10_000;

type HowItEnded = Pick<EndRecord, "exitCode" | "signal" | "rejected" | "blocked">;

/**
 * One run from its working directory to the end of everything it started, as records and lines of its log. Its
 * namespaces are made while its job is on the way; its program starts once the job is whole. Resolves once the log
 * holds the run's end: to true, or to false and without that record if no job came. Rejects only when the log can't be
 * written.
 */
export async function superviseRun(
  order: RunOrder,
  job: Promise<Buffer | null>,
  context: SupervisorContext,
): Promise<boolean> {
  const log = runLogWriter(context.logFd);
  const ended = await startRun(order, { ...context, log }, job).catch((error: unknown) =>
    failed(error, order.workDir),
  );
  const leftover = await removeWorkDir(order.workDir).then(() => null, messageOf);
  if ((await job) === null) return false;
  log.end({ ...ended, leftover });
  return true;
}

/** Dependencies of a run that starts. */
interface RunStart extends SupervisorContext {
  readonly log: RunLogWriter;
}

async function startRun(
  order: RunOrder,
  start: RunStart,
  coming: Promise<Buffer | null>,
): Promise<HowItEnded> {
  const { log, env, asked } = start;
  await makeWorkDir(order.workDir);
  accessSync(order.program.file, constants.X_OK);
  const options = (isClosed: boolean) => ({
    cwd: order.workDir,
    env: variablesOf(order, isClosed, env),
  });
  const isolation = await isolate(order, env, (program, isClosed) =>
    startConfined(program, options(isClosed)),
  );
  const job = await coming;
  if (job === null || asked.now() !== null) {
    if ("confined" in isolation) isolation.confined.leave();
    return { exitCode: null, signal: "SIGTERM", rejected: null };
  }
  if ("why" in isolation) return refused(refusalOf(isolation));
  const { isClosed, unconfined, notClosed } = recordOf(isolation);
  log.supervisor({ isClosed, unconfined, notClosed });
  if ("confined" in isolation) {
    const ended = ending(isolation.confined.child, order, job, start);
    isolation.confined.begin();
    return ended;
  }
  const { file, args } = order.program;
  // The run is in a separate session.
  const child = spawn(file, args, { ...options(false), detached: true, stdio: "pipe" });
  return ending(child, order, job, start);
}

function recordOf(isolation: Exclude<Isolation, { readonly why: string }>) {
  switch (isolation.kind) {
    case "closed":
      return { isClosed: true, unconfined: null, notClosed: null };
    case "confined":
      return { isClosed: false, unconfined: null, notClosed: isolation.notClosed };
    case "bare":
      return { isClosed: false, ...isolation };
  }
}

/** The variables that sudo sets for the user it changes to. */
function ownVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const { PATH = "/usr/local/bin:/usr/bin:/bin", USER, LOGNAME = USER } = env;
  return { PATH, ...(USER === undefined ? {} : { USER }), ...(LOGNAME && { LOGNAME }) };
}

function variablesOf(
  order: RunOrder,
  isClosed: boolean,
  own: NodeJS.ProcessEnv,
): Record<string, string> {
  const { PATH = "", ...variables } = { ...ownVariables(own), ...order.env };
  return {
    ...variables,
    PATH: isClosed ? pathWithoutRun(PATH) : PATH,
    [networkVariable]: isClosed ? "closed" : "open",
  };
}

function rejected(reason: string): HowItEnded {
  return {
    exitCode: null,
    signal: null,
    rejected: `the run's process cannot be started: ${reason}`,
  };
}

function refused({ reason, isPassing }: Refusal): HowItEnded {
  return { ...rejected(reason), blocked: isPassing };
}

function failed(error: unknown, workDir: string): HowItEnded {
  const fault = machineFault(error, workDir);
  return fault === null ? rejected(messageOf(error)) : { ...rejected(fault), blocked: true };
}

function ending(
  child: ChildProcess,
  order: RunOrder,
  job: Buffer,
  { log, asked }: RunStart,
): Promise<HowItEnded> {
  return new Promise((resolve) => {
    const closed = [outputTo(log, "out", child.stdout), outputTo(log, "err", child.stderr)];
    // A process that ends before reading its job still has an exit. Nothing follows the job, but the input stays open:
    // its end shows the run that its supervisor is gone.
    child.stdin?.on("error", () => undefined);
    child.stdin?.write(job);
    const signal = (name: NodeJS.Signals) => {
      if (child.pid !== undefined) signalGroup(child.pid, name);
    };
    asked.onRequest(() => signal(asked.now() === "KILL" ? "SIGKILL" : "SIGTERM"));
    const overdue = setTimeout(
      () => {
        signal("SIGTERM");
        setTimeout(() => signal("SIGKILL"), overdueGraceMs);
      },
      Math.min(order.lifeMs, longestTimerMs),
    );
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(failed(error, order.workDir));
    });
    const exited = (exitCode: number | null, name: NodeJS.Signals | null) => {
      clearTimeout(overdue);
      signal("SIGKILL");
      void settled(child, order.instanceId, closed).then(() =>
        resolve({ exitCode, signal: name, rejected: null }),
      );
    };
    // The first process of its namespaces may have been ended before the job came.
    if (child.exitCode === null && child.signalCode === null) child.once("exit", exited);
    else exited(child.exitCode, child.signalCode);
  });
}

/** Kills the remaining processes of the run, then waits for output still in transit. */
async function settled(
  child: ChildProcess,
  instanceId: string,
  closed: readonly Promise<unknown>[],
) {
  await killRun(instanceId);
  await Promise.race([Promise.all(closed), wait(lateOutputMs)]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  await Promise.all(closed);
}

/** Resolves when the last line was written. */
async function outputTo(log: RunLogWriter, stream: "out" | "err", source: Readable | null) {
  if (source === null || source.closed) return;
  let lines: string[] = [];
  const splitter = lineSplitter(maxTextBytes, (line) => lines.push(line));
  const write = () => {
    log.output(stream, lines);
    lines = [];
  };
  source.on("data", (chunk: Buffer) => {
    splitter.push(chunk);
    write();
  });
  await once(source, "close");
  splitter.end();
  write();
}
