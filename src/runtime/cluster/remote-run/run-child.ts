import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { RemoteEnd } from "../../wire/remote-protocol.ts";
import { lineSplitter } from "../../wire/lines.ts";
import { killRun, signalGroup } from "../../wire/marked-processes.ts";
import type { OutgoingLines } from "./outgoing-lines.ts";
import { readFileSync, writeFileSync } from "node:fs";

export interface ChildOptions {
  readonly instanceId: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Sent to its standard input. */
  readonly job: object;
  readonly lines: OutgoingLines;
}

/** Bytes of one line; a longer one is cut. */
const maxLineBytes = 32 * 1024;
/** Bytes that the scheduler lacks, beyond which no output is read, and below which reading resumes. */
const fullBytes = 4 * 1024 * 1024;
const roomBytes = fullBytes / 2;
/** How long a process that escaped the end may hold an output open without writing to it, in ms. */
const lateOutputMs = 1000;

/** Starts the run's own process in a process group of its own, in this process's directory. Never throws. */
export function runChild({ instanceId, command, env, job, lines }: ChildOptions) {
  const [file = "", ...args] = command;
  const isOutOfMemory = watchOutOfMemory();
  const child = spawn(file, args, {
    env: { ...env, AL_INSTANCE: instanceId },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (child.pid !== undefined) offerToOutOfMemory(child.pid);
  const outputs = [
    readInto(lines, "stdout", child.stdout),
    readInto(lines, "stderr", child.stderr),
  ];
  // A process that exits before it read its job still has an exit. The input stays open: its end would mean to the run
  // that its scheduler is gone permanently.
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(job)}\n`);
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined) signalGroup(child.pid, name);
  };
  const ended = howItEnded(child).then(async (ending): Promise<RemoteEnd> => {
    signal("SIGKILL");
    await killRun(instanceId);
    await Promise.all(outputs.map((output) => output.rest()));
    return { ...ending, outOfMemory: isOutOfMemory() };
  });
  return {
    /** Sends TERM, and KILL after this many ms; of several calls the first KILL counts. */
    stop: stopper(signal, ended),
    /** Resolves when all its processes have ended and all its output is in the lines. */
    ended,
  };
}

export type RunChild = ReturnType<typeof runChild>;

function howItEnded(child: ChildProcess): Promise<Omit<RemoteEnd, "outOfMemory">> {
  return new Promise((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal, rejected: null }));
    child.once("error", ({ message }) => {
      if (child.pid !== undefined) return;
      const rejected = `the run's process cannot be started: ${message}`;
      resolve({ exitCode: null, signal: null, rejected });
    });
  });
}

function stopper(signal: (name: NodeJS.Signals) => void, ended: Promise<unknown>) {
  let isAsked = false;
  let killAt = Infinity;
  let timer: NodeJS.Timeout | undefined;
  void ended.then(() => clearTimeout(timer));
  return (graceMs: number): void => {
    if (!isAsked && graceMs > 0) signal("SIGTERM");
    isAsked = true;
    const at = performance.now() + graceMs;
    if (at >= killAt) return;
    killAt = at;
    clearTimeout(timer);
    if (graceMs <= 0) return signal("SIGKILL");
    timer = setTimeout(() => signal("SIGKILL"), graceMs);
  };
}

/** Reads an output into the lines, as long as there is room for them. */
function readInto(lines: OutgoingLines, stream: "stdout" | "stderr", source: Readable) {
  const closed = new Promise<void>((resolve) => source.once("close", resolve));
  const splitter = lineSplitter(maxLineBytes, (line) => lines.add(stream, line, Date.now()));
  let readAt = performance.now();
  const look = () => {
    if (lines.bytes > fullBytes) source.pause();
    else if (source.isPaused() && lines.bytes <= roomBytes) source.resume();
  };
  source.on("error", () => undefined);
  source.on("data", (chunk: Buffer) => {
    readAt = performance.now();
    splitter.push(chunk);
  });
  lines.addListener(look);
  const closeLate = () => {
    if (source.isPaused()) readAt = performance.now();
    if (performance.now() - readAt >= lateOutputMs) source.destroy();
  };
  return {
    /** Resolves when all of it is in the lines. */
    rest: async () => {
      readAt = performance.now();
      const timer = setInterval(closeLate, lateOutputMs / 4);
      await closed;
      clearInterval(timer);
      lines.removeListener(look);
      splitter.end();
    },
  };
}

/** Above this process, so that the system kills the run first and this process can report it. */
const ahead = 500;
const greatest = 1000;

/** Makes a process the first to be killed if memory is short. Its later children inherit that. */
function offerToOutOfMemory(pid: number): void {
  try {
    const own = Number(readFileSync("/proc/self/oom_score_adj", "utf8"));
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(greatest, own + ahead)));
  } catch {
    // The process has ended, or this system has no such file.
  }
}

/** Whether a process of this one's cgroup was killed for lack of memory since this call. */
function watchOutOfMemory(): () => boolean {
  const before = outOfMemoryKills();
  return () => outOfMemoryKills() > before;
}

/** A container sees its own cgroup at the root. */
const counterFiles = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];

/**
 * How many processes the kernel has killed in this process's cgroup: `oom_kill` of `memory.events` in version 2, of
 * `memory.oom_control` in version 1 (kernel docs, admin-guide/cgroup-v2 and cgroup-v1/memory).
 */
function outOfMemoryKills(): number {
  const counts = counterFiles.map((path) => /^oom_kill (\d+)$/m.exec(textOf(path))?.[1]);
  return Number(counts.find(Boolean) ?? 0);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
