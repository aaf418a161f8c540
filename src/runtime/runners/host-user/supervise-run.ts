import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { longestTimerMs } from "../../../../streams/longest-timer.ts";
import { lineSplitter } from "../../../foundation/contracts/line-splitter.ts";
import { machineFault } from "../../../foundation/contracts/machine-fault.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { killRun, signalGroup } from "../end-processes.ts";
import { assignRun, ownVariables, startProcess } from "./prewarmed-process.ts";
import type { PrewarmedProcess } from "./prewarmed-process.ts";
import { networkVariable } from "../../../foundation/contracts/run-place.ts";
import { pathWithoutRun } from "./closed-network.ts";
import { findIsolation, refusalOf } from "./isolation.ts";
import type { Isolation, Refusal } from "./isolation.ts";
import type { RunOrder } from "./supervisor-order.ts";
import { runLogWriter } from "./run-log-writer.ts";
import type { RunLogWriter } from "./run-log-writer.ts";
import { maxTextBytes } from "./run-log.ts";
import type { EndRecord } from "./run-log.ts";
import { makeWorkDir, removeWorkDir } from "./work-dir.ts";

/** What the supervisor was asked by signals. */
export interface StopRequests {
  readonly now: () => "TERM" | "KILL" | null;
  readonly onRequest: (listener: () => void) => void;
}

export interface SupervisorContext {
  readonly env: NodeJS.ProcessEnv;
  readonly asked: StopRequests;
  /** The open log file. */
  readonly logFd: number;
  /** The run's process, where it was started before the run. */
  readonly prewarmed: PrewarmedProcess | null;
}

/** How long the output of a process that ended is waited for, in ms. */
const lateOutputMs = 1000;
/** Between TERM and KILL of a run that outlived its time, in ms. */
const overdueGraceMs = 10_000;

type HowItEnded = Pick<EndRecord, "exitCode" | "signal" | "rejected" | "blocked">;

/**
 * One run from its working directory to the end of everything it started, as records and lines of its log. Resolves
 * to 0 once the log holds its end; rejects only when the log can't be written.
 */
export async function superviseRun(
  order: RunOrder,
  job: Buffer,
  context: SupervisorContext,
): Promise<number> {
  const log = runLogWriter(context.logFd);
  const { prewarmed, env } = context;
  const isolation = prewarmed?.isolation ?? (await findIsolation(env, order.network));
  const refusal = refusalOf(isolation, order);
  const start = { ...context, job, isolation, log };
  const ended = refusal === null ? await startRun(order, start) : refused(refusal);
  const leftover = await removeWorkDir(order.workDir).then(() => null, messageOf);
  log.end({ ...ended, leftover });
  return 0;
}

/** What a run begins with. */
interface RunStart extends SupervisorContext {
  readonly job: Buffer;
  readonly isolation: Isolation;
  readonly log: RunLogWriter;
}

async function startRun(
  order: RunOrder,
  { job, isolation, log, env, asked, prewarmed }: RunStart,
): Promise<HowItEnded> {
  const { isClosed, unconfined, notClosed } = isolation;
  log.supervisor({ isClosed, unconfined, notClosed });
  try {
    await makeWorkDir(order.workDir);
    accessSync(order.program.file, constants.X_OK);
  } catch (error) {
    return failed(error, order.workDir);
  }
  const place = { cwd: order.workDir, env: variablesOf(order, isolation, env) };
  const isAsked = new Promise<void>((resolve) => asked.onRequest(resolve));
  const isPlaced = prewarmed !== null && (await assignRun(prewarmed, place, isAsked));
  if (asked.now() !== null) return { exitCode: null, signal: "SIGTERM", rejected: null };
  if (isPlaced) return ending(prewarmed.child, order, log, { asked, job, marks: [prewarmed.mark] });
  const child = startProcess(isolation.confine(order.program), place);
  return ending(child, order, log, { asked, job, marks: [] });
}

function variablesOf(
  order: RunOrder,
  { isClosed }: Isolation,
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

/** What goes with a run's process. */
interface Handed {
  readonly asked: StopRequests;
  readonly job: Buffer;
  /** What its processes may carry beside the instance's name. */
  readonly marks: readonly string[];
}

function ending(
  child: ChildProcess,
  order: RunOrder,
  log: RunLogWriter,
  { asked, job, marks }: Handed,
): Promise<HowItEnded> {
  return new Promise((resolve) => {
    const closed = [outputTo(log, "out", child.stdout), outputTo(log, "err", child.stderr)];
    // A process that ends before it read its job has an exit. Nothing follows the job, but the input stays open: its
    // end shows the run that its supervisor is gone.
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
    child.once("exit", (exitCode, name) => {
      clearTimeout(overdue);
      signal("SIGKILL");
      void settled(child, [order.instanceId, ...marks], closed).then(() =>
        resolve({ exitCode, signal: name, rejected: null }),
      );
    });
  });
}

/** Ends what the process left running, then takes the output that is still under way. */
async function settled(
  child: ChildProcess,
  marks: readonly string[],
  closed: readonly Promise<unknown>[],
) {
  await Promise.all(marks.map(killRun));
  await Promise.race([Promise.all(closed), wait(lateOutputMs)]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  await Promise.all(closed);
}

/** Resolves when the last line was written. */
async function outputTo(log: RunLogWriter, stream: "out" | "err", source: Readable | null) {
  if (source === null) return;
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
  // A prewarmed process was paused after its answer.
  source.resume();
  await once(source, "close");
  splitter.end();
  write();
}
