import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { execa as Execa } from "execa";
import { lineSplitter, type LineSplitter } from "../wire/lines.ts";
import { killMarked } from "../wire/marked-processes.ts";

/** How a program ended. */
export interface ProgramEnd {
  /** Null if a signal ended the program or it couldn't start. */
  readonly exitCode: number | null;
  /** Why the program was killed or couldn't start; null if it ended by itself. */
  readonly problem: string | null;
  /** True if the program doesn't exist. */
  readonly missing: boolean;
}

interface ProgramOptions {
  readonly cwd: string;
  /** The whole environment; this process's own variables are not added. */
  readonly env: Readonly<Record<string, string>>;
  /** How long the program may take, in ms; null for no limit. */
  readonly timeoutMs: number | null;
  /** The clock of `timeoutMs`, in ms; by default one that no wait of the run pauses. */
  readonly activeMs?: (() => number) | undefined;
  readonly signal: AbortSignal;
  /** Called for each line of standard output and standard error; `cut` if the line was longer than the limit. */
  readonly onLine: (line: string, stream: "stdout" | "stderr", cut: boolean) => void;
  /** Bytes of a line that are kept. */
  readonly maxLineBytes: number;
  /** The program's standard input; empty if absent. */
  readonly input?: string;
  /** Receives the standard input after `input` was written to it, and must end it. Without it, `input` is all. */
  readonly onInput?: (stdin: Writable) => void;
  /** If true, processes that the program left running are killed even if it ended by itself. */
  readonly endsAll?: boolean;
}

/** How long to wait for output after a program ended, in ms: its background processes may hold the pipe open. */
const lateOutputMs = 500;

/**
 * Runs a program to its end. On timeout and abort it is killed with all its descendants, also those that called
 * `setsid`. Never rejects, and buffers at most one line of output.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramEnd> {
  const { onLine, maxLineBytes, endsAll } = options;
  const mark = randomBytes(9).toString("hex");
  // Loaded by the first program: most runs have neither hooks nor commands in their instructions.
  const { execa } = await import("execa");
  const child = started(execa, file, args, mark, options);
  const outputs = (["stdout", "stderr"] as const).map((stream) =>
    readLines(child[stream], maxLineBytes, (line, cut) => onLine(line, stream, cut)),
  );
  const watch = watched(child, options);
  const { onInput, input } = options;
  if (onInput !== undefined) {
    // The program may end without reading all of it.
    child.stdin.on("error", () => undefined).write(input);
    onInput(child.stdin);
  }
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
  execa: typeof Execa,
  file: string,
  args: readonly string[],
  mark: string,
  { cwd, env, input, onInput }: ProgramOptions,
) {
  return execa(file, args, {
    cwd,
    env: { ...env, AL_COMMAND: mark },
    extendEnv: false,
    ...(onInput === undefined && input !== undefined ? { input } : {}),
    ...(input === undefined ? { stdin: "ignore" } : {}),
    buffer: false,
    encoding: "buffer",
    // A rejection's message would contain the arguments.
    reject: false,
    killDescendants: true,
    forceKillAfterDelay: false,
    // execa's listeners would end this process at signals that it handles itself.
    cleanup: false,
  });
}

/** Kills the program on timeout or abort. Closes its output after its end: background processes may hold it open. */
function watched(
  child: ReturnType<typeof started>,
  { timeoutMs, activeMs = () => performance.now(), signal }: ProgramOptions,
): { problem(): string | null; stop(): void } {
  let problem: string | null = null;
  const end = (why: string) => {
    problem ??= why;
    child.kill("SIGKILL");
  };
  let timer: NodeJS.Timeout | undefined;
  const begunAt = activeMs();
  const expireAfter = (ms: number): void => {
    const leftMs = ms - (activeMs() - begunAt);
    if (leftMs < 1) end(`took longer than ${ms / 1000} s`);
    else timer = setTimeout(() => expireAfter(ms), leftMs);
  };
  if (timeoutMs !== null) expireAfter(timeoutMs);
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

type CommandOptions = Pick<ProgramOptions, "cwd" | "env" | "signal" | "onLine" | "activeMs"> & {
  readonly timeoutMs: number;
  /** Bytes of a line that are kept, 32 KiB when absent. */
  readonly maxLineBytes?: number;
};

const defaultLineBytes = 32 * 1024;

/**
 * Runs a command through `/bin/sh -c` and kills it with all its descendants on timeout and abort. Its background
 * processes survive a normal end. Never rejects.
 */
export function runCommand(command: string, options: CommandOptions): Promise<ProgramEnd> {
  const { maxLineBytes = defaultLineBytes } = options;
  return runProgram("/bin/sh", ["-c", command], { ...options, maxLineBytes });
}
