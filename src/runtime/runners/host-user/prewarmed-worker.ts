import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, rmSync, statSync } from "node:fs";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { RunNetwork } from "../../../../streams/run-network.ts";
import { ownBaseDir } from "./base-dir.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import type { Program, PrewarmOrder } from "./supervisor-order.ts";
import { isOwnUser, startSupervisor } from "./supervisor-process.ts";
import { identityOf, isAlive } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import { supervisorStartOf, prewarmEnvironment } from "./run-environment.ts";
import { closeLog, createLog } from "./run-files.ts";

/** The runs that a worker may be for. */
export interface WorkerKind {
  /** OS user name, or `$USER`. */
  readonly user: string;
  readonly network: RunNetwork;
}

/** A supervisor that was started before there was a run, with a process that waits for one. */
export interface PrewarmedWorker {
  readonly process: ProcessIdentity;
  /** What the waiting process carries instead of an instance's name. */
  readonly mark: string;
  readonly child: ChildProcess;
  /** Resolves when the supervisor is gone. */
  readonly over: Promise<void>;
  /** Whether it lives, and is of the program as it is now. */
  isGood(): boolean;
  /** Its output becomes the log of a run: the open file. Throws when that can't be. */
  claim(logPath: string): number;
  /** Lets it go: it ends by itself when its input does. */
  end(): void;
}

/** Rules allow the name of any agent, so that a supervisor for any of them needs no rule of its own. */
const anyName = "warm";

/** `.warm-<pid of the scheduler>-<mark>`: an output that no run has claimed as its log yet. */
const unclaimedLog = /^\.warm-(\d+)-/;

/** Starts a supervisor for the next run of this kind. Rejects when it can't be started. */
export async function startWorker(
  { user: runAs, network }: WorkerKind,
  options: HostUserOptions,
): Promise<PrewarmedWorker> {
  const { baseDir } = options;
  await ownBaseDir(baseDir, !isOwnUser(runAs));
  const mark = `warm:${randomBytes(10).toString("hex")}`;
  const path = join(baseDir, `.warm-${process.pid}-${mark.slice(5)}`);
  const start = supervisorStartOf(anyName, runAs, options);
  const program = options.program?.(null) ?? start.program;
  const version = versionOf(start.program);
  const logFd = createLog(path);
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    child.stdin?.end();
    closeLog(logFd);
    rmSync(path, { force: true });
  };
  const child = startSupervisor(start, logFd);
  const over = new Promise<void>((resolve) => {
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
  child.stdin?.on("error", () => undefined);
  if (child.pid === undefined) {
    end();
    throw new Error("it could not be started");
  }
  const identity = identityOf(child.pid);
  const env = prewarmEnvironment(runAs, mark, options);
  const order: PrewarmOrder = { order: "warm", instanceId: mark, program, env, network };
  child.stdin?.write(`${JSON.stringify(order)}\n`);
  return {
    process: identity,
    mark,
    child,
    over,
    end,
    isGood: () => isAlive(identity) && version !== null && versionOf(start.program) === version,
    claim: (logPath) => {
      // Fails where there is one already, as a new log does.
      linkSync(path, logPath);
      rmSync(path, { force: true });
      return logFd;
    },
  };
}

/** Changes when the program is built or installed anew: then a process that was started before is of the old one. */
function versionOf({ file, args: [entry = file] }: Program): string | null {
  try {
    const { ino, mtimeMs, size } = statSync(entry);
    return [ino, mtimeMs, size].join(" ");
  } catch {
    return null;
  }
}

/** Removes what schedulers left that were killed: their supervisors ended with them. */
export function removeLostLogs(baseDir: string): void {
  for (const name of namesIn(baseDir)) {
    const [, pid] = unclaimedLog.exec(name) ?? [];
    if (pid === undefined || lives(Number(pid))) continue;
    rmSync(join(baseDir, name), { force: true });
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
