import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { execa } from "execa";
import { lineSplitter } from "../../foundation/contracts/line-splitter.ts";
import type { LineSplitter } from "../../foundation/contracts/line-splitter.ts";
import { killMarked } from "../../foundation/contracts/marked-processes.ts";

/** How a program ended. */
export interface ProgramEnd {
  /** Null when a signal ended it or it couldn't start. */
  readonly exitCode: number | null;
  /** Why it was ended from outside or couldn't start; null when it ended by itself. */
  readonly problem: string | null;
  /** True when there is no such program. */
  readonly missing: boolean;
}

interface ProgramOptions {
  readonly cwd: string;
  /** The whole environment; nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Null for no limit of its own. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
  /** Called for each line of its standard output and standard error; `cut` when it was longer than the limit. */
  readonly onLine: (line: string, stream: "stdout" | "stderr", cut: boolean) => void;
  /** Bytes of a line that are kept. */
  readonly maxLineBytes: number;
  /** What it reads on its standard input; nothing when absent. */
  readonly input?: string;
  /** True ends what it left running also when it ended by itself. */
  readonly endsAll?: boolean;
}

/** How long the output of a program that ended is waited for: what it left in the background may hold the pipe. */
const lateOutputMs = 500;

/**
 * Runs a program to its end. On timeout and abort it is killed with all that it started, `setsid` escapees
 * included. Never rejects, and holds no more of the output than one line.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramEnd> {
  const { onLine, maxLineBytes, endsAll } = options;
  const mark = randomBytes(9).toString("hex");
  const child = started(file, args, mark, options);
  const outputs = (["stdout", "stderr"] as const).map((stream) =>
    readLines(child[stream], maxLineBytes, (line, cut) => onLine(line, stream, cut)),
  );
  const watch = watched(child, options);
  const { exitCode = null, code, originalMessage } = await child;
  watch.stop();
  outputs.forEach((output) => output.end());
  if (child.pid === undefined) {
    const problem = `could not be started: ${originalMessage ?? code ?? "unknown reason"}`;
    return { exitCode: null, problem, missing: code === "ENOENT" };
  }
  const problem = watch.problem();
  if (problem !== null || endsAll === true) {
    child.kill("SIGKILL");
    await killMarked(`AL_COMMAND=${mark}`);
  }
  return { exitCode, problem, missing: false };
}

function started(
  file: string,
  args: readonly string[],
  mark: string,
  { cwd, env, input }: ProgramOptions,
) {
  return execa(file, args, {
    cwd,
    env: { ...env, AL_COMMAND: mark },
    extendEnv: false,
    ...(input === undefined ? { stdin: "ignore" } : { input }),
    buffer: false,
    encoding: "buffer",
    // A rejection's message holds the arguments.
    reject: false,
    killDescendants: true,
    forceKillAfterDelay: false,
    // Its listeners would end this process at a signal that we answer ourselves.
    cleanup: false,
  });
}

/** Kills the program when it is due, and lets go of the output once it ended: what it left behind may hold that. */
function watched(
  child: ReturnType<typeof started>,
  { timeoutMs, signal }: ProgramOptions,
): { problem(): string | null; stop(): void } {
  let problem: string | null = null;
  const end = (why: string) => {
    problem ??= why;
    child.kill("SIGKILL");
  };
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(() => end(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
  const abort = () => end("was stopped");
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  let late: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    clearTimeout(late);
    signal.removeEventListener("abort", abort);
  };
  child.nodeChildProcess.once("exit", () => {
    stop();
    const letGo = () => [child.stdout, child.stderr].forEach((stream) => stream.destroy());
    late = setTimeout(letGo, lateOutputMs);
  });
  return { problem: () => problem, stop };
}

function readLines(
  stream: Readable,
  maxLineBytes: number,
  onLine: (line: string, cut: boolean) => void,
): LineSplitter {
  const lines = lineSplitter(maxLineBytes, onLine);
  stream.on("data", (chunk: Buffer) => lines.push(chunk));
  return lines;
}

type CommandOptions = Pick<ProgramOptions, "cwd" | "env" | "signal" | "onLine"> & {
  readonly timeoutMs: number;
  /** Bytes of a line that are kept, 32 KiB when absent. */
  readonly maxLineBytes?: number;
};

const defaultLineBytes = 32 * 1024;

/**
 * Runs a command through `/bin/sh -c` in a process group of its own, which is killed with it on timeout and
 * abort. What it leaves in the background after its own end stays. Never rejects.
 */
export function runCommand(command: string, options: CommandOptions): Promise<ProgramEnd> {
  const { maxLineBytes = defaultLineBytes } = options;
  return runProgram("/bin/sh", ["-c", command], { ...options, maxLineBytes });
}
