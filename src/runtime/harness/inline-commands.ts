import { logTo, type Emit } from "./harness.ts";
import { cut } from "./message-writer.ts";
import { rawLines } from "./raw-lines.ts";
import type { RunClock } from "./run-clock.ts";
import { runCommand } from "./run-program.ts";

export interface InlineCommandContext {
  readonly cwd: string;
  /** The whole environment of the commands, credentials included. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** How long one command may take, in ms, by the clock of the run. */
  readonly timeoutMs: number;
  readonly activeMs?: RunClock["activeMs"];
}

export const inlineTimeoutMs = 60_000;

/** The most characters of one command's output in the instructions. */
const maxOutputCharacters = 30_000;
const maxLineBytes = 4 * maxOutputCharacters;

/** Matches `` !`command` `` at the start of a line or after a space, but not `KEY=!`x`` or ``Wow!`x` ``. */
const inlineCommand = /(?<=^|\s)!`([^`\n]+)`/gm;

/** The commands in these instructions. */
export function inlineCommandsIn(instructions: string): string[] {
  return [...instructions.matchAll(inlineCommand)].map(([, command = ""]) => command);
}

/**
 * Replaces each `` !`command` `` of the instructions by the command's output. Runs the commands one after the other in
 * the run's working directory. A failure is reported in its place. Commands in outputs are not executed.
 */
export async function withCommandOutputs(
  instructions: string,
  context: InlineCommandContext,
): Promise<string> {
  const parts: string[] = [];
  let done = 0;
  for (const match of instructions.matchAll(inlineCommand)) {
    parts.push(instructions.slice(done, match.index), await outputOf(match[1] ?? "", context));
    done = match.index + match[0].length;
  }
  return [...parts, instructions.slice(done)].join("");
}

async function outputOf(command: string, context: InlineCommandContext): Promise<string> {
  const { cwd, env, signal, emit, timeoutMs, activeMs } = context;
  const startedAt = Date.now();
  const output = cappedText(maxOutputCharacters);
  const errors = rawLines(() => undefined);
  const { exitCode, problem } = await runCommand(command, {
    cwd,
    env,
    signal,
    timeoutMs,
    activeMs,
    maxLineBytes,
    onLine: (line, stream) => (stream === "stdout" ? output.add(line) : errors.add(line, stream)),
  });
  const failed = problem === null && exitCode === 0 ? null : (problem ?? exitText(exitCode));
  const msg = `SKILL.md command: ${cut(command, 500)}${failed === null ? "" : ` ${failed}`}`;
  const fields = { exitCode, durationMs: Date.now() - startedAt };
  logTo(emit, "run", failed === null ? 30 : 40, msg, fields);
  if (failed === null) return output.text();
  return [output.text(), `[command "${cut(command, 500)}" ${failed}]`, ...errors.last()]
    .filter((part) => part !== "")
    .join("\n");
}

function exitText(exitCode: number | null): string {
  return exitCode === null ? "was ended by a signal" : `exited with code ${exitCode}`;
}

/** Joins lines up to a limit of characters, and notes if the text was cut. */
function cappedText(limit: number): { add(line: string): void; text(): string } {
  let text = "";
  let lines = 0;
  let isCut = false;
  return {
    add: (line) => {
      const whole = lines === 0 ? line : `${text}\n${line}`;
      lines += 1;
      isCut ||= whole.length > limit;
      if (text.length < limit) text = whole.slice(0, limit);
    },
    text: () => (isCut ? `${text}\n[cut: there is more than ${limit} characters]` : text),
  };
}
