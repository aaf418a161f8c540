import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { longestTimerMs } from "../../../streams/longest-timer.ts";
import { lineSplitter } from "../../contracts/line-splitter.ts";
import { messageOf } from "../../errors.ts";
import { killRun, signalGroup } from "../end-processes.ts";
import { placeAhead } from "./ahead.ts";
import type { Ahead } from "./ahead.ts";
import { findIsolation } from "./isolation.ts";
import type { Isolation } from "./isolation.ts";
import type { KeepOrder } from "./keeper-order.ts";
import { runLogWriter } from "./log-writer.ts";
import type { RunLogWriter } from "./log-writer.ts";
import { maxTextBytes } from "./run-log.ts";
import type { EndRecord } from "./run-log.ts";
import { ownVariables, startProcess } from "./start-process.ts";
import { makeWorkDir, removeWorkDir } from "./work-dir.ts";

/** What the keeper was asked by signals. */
export interface Asked {
  readonly now: () => "TERM" | "KILL" | null;
  readonly onAsked: (listener: () => void) => void;
}

export interface KeeperSurroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly asked: Asked;
  /** The open log file. */
  readonly logFd: number;
  /** The run's process, where it was started before the run. */
  readonly ahead: Ahead | null;
}

/** How long the output of a process that ended is waited for, in ms. */
const lateOutputMs = 1000;
/** Between TERM and KILL of a run that outlived its time, in ms. */
const overdueGraceMs = 10_000;

type HowItEnded = Pick<EndRecord, "exitCode" | "signal" | "rejected">;

/**
 * One run from its working directory to the end of everything it started, as records and lines of its log. Resolves
 * to 0 once the log holds its end; rejects only when the log can't tell.
 */
export async function keepRun(
  order: KeepOrder,
  job: Buffer,
  surroundings: KeeperSurroundings,
): Promise<number> {
  const log = runLogWriter(surroundings.logFd);
  const isolation = surroundings.ahead?.isolation ?? (await findIsolation(surroundings.env));
  log.keeper({ unconfined: isolation.unconfined });
  const ended = await begun(order, { job, isolation, log, ...surroundings });
  const leftover = await removeWorkDir(order.workDir).then(() => null, messageOf);
  log.end({ ...ended, leftover });
  return 0;
}

/** What a run begins with. */
interface Beginning extends KeeperSurroundings {
  readonly job: Buffer;
  readonly isolation: Isolation;
  readonly log: RunLogWriter;
}

async function begun(
  order: KeepOrder,
  { job, isolation, log, env, asked, ahead }: Beginning,
): Promise<HowItEnded> {
  try {
    await makeWorkDir(order.workDir);
    accessSync(order.program.file, constants.X_OK);
  } catch (error) {
    return rejected(messageOf(error));
  }
  const place = { cwd: order.workDir, env: { ...ownVariables(env), ...order.env } };
  const isAsked = new Promise<void>((resolve) => asked.onAsked(resolve));
  const isPlaced = ahead !== null && (await placeAhead(ahead, place, isAsked));
  if (asked.now() !== null) return { exitCode: null, signal: "SIGTERM", rejected: null };
  if (isPlaced) return ending(ahead.child, order, log, { asked, job, marks: [ahead.mark] });
  const child = startProcess(isolation.confine(order.program), place);
  return ending(child, order, log, { asked, job, marks: [] });
}

function rejected(reason: string): HowItEnded {
  return {
    exitCode: null,
    signal: null,
    rejected: `the run's process cannot be started: ${reason}`,
  };
}

/** What goes with a run's process. */
interface Handed {
  readonly asked: Asked;
  readonly job: Buffer;
  /** What its processes may carry beside the instance's name. */
  readonly marks: readonly string[];
}

function ending(
  child: ChildProcess,
  order: KeepOrder,
  log: RunLogWriter,
  { asked, job, marks }: Handed,
): Promise<HowItEnded> {
  return new Promise((resolve) => {
    const closed = [outputTo(log, "out", child.stdout), outputTo(log, "err", child.stderr)];
    // A process that ends before it read its job says so by its exit. What comes after the job is nothing, but the
    // input stays open: its end tells the run that nobody keeps it any more.
    child.stdin?.on("error", () => undefined);
    child.stdin?.write(job);
    const signal = (name: NodeJS.Signals) => {
      if (child.pid !== undefined) signalGroup(child.pid, name);
    };
    asked.onAsked(() => signal(asked.now() === "KILL" ? "SIGKILL" : "SIGTERM"));
    const overdue = setTimeout(
      () => {
        signal("SIGTERM");
        setTimeout(() => signal("SIGKILL"), overdueGraceMs);
      },
      Math.min(order.lifeMs, longestTimerMs),
    );
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(rejected(error.message));
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
  // One that was started ahead was paused after its answer.
  source.resume();
  await once(source, "close");
  splitter.end();
  write();
}
