import { runProgram } from "./run-program.ts";
import type { ProgramEnd, ProgramOptions } from "./run-program.ts";

export type CommandOptions = Pick<ProgramOptions, "cwd" | "env" | "signal" | "onLine"> & {
  readonly timeoutMs: number;
  /** Bytes of a line that are kept, 8192 when absent. */
  readonly maxLineBytes?: number;
};

const defaultLineBytes = 8192;

/**
 * Runs a command through `/bin/sh -c` in a process group of its own, which is killed with it on timeout and
 * abort. What it leaves in the background after its own end stays. Never rejects.
 */
export function runCommand(command: string, options: CommandOptions): Promise<ProgramEnd> {
  const { maxLineBytes = defaultLineBytes } = options;
  return runProgram("/bin/sh", ["-c", command], { ...options, maxLineBytes });
}
