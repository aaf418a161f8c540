import { isatty } from "node:tty";
import pc from "picocolors";
import type { Tone } from "../../../foundation/contracts/agent-columns.ts";
import { plainJson } from "./format.ts";

export type Colors = ReturnType<typeof pc.createColors>;

/** The colour of a tone. */
export function toneColor(tone: Tone, colors: Colors): (text: string) => string {
  const byTone = {
    plain: String,
    muted: colors.dim,
    good: colors.green,
    busy: colors.cyan,
    warning: colors.yellow,
    error: colors.red,
  };
  return byTone[tone];
}

/** Where a command writes: data on standard output, everything else on standard error. */
export interface Output {
  /** True with `--json`: standard output gets JSON only. */
  readonly json: boolean;
  /** Colours for standard output; they do nothing off a terminal and with NO_COLOR. */
  readonly colors: Colors;
  /** Width of the terminal; null when standard output is not one. */
  readonly columns: number | null;
  /** Writes one or more lines of data. */
  data(text: string): void;
  /** Writes one JSON document. */
  document(value: unknown): void;
  /** Has all data of this turn of the event loop go out in one write: for commands that may write much at once. */
  gather(): void;
  /** Writes a line for the person, beside the data. */
  note(text: string): void;
  /** Resolves once standard output has taken what was written: a slow reader slows the writer. */
  drained(): Promise<void>;
}

/** Colours for standard output as the terminal and NO_COLOR, FORCE_COLOR and TERM ask for. */
function colorsFor(env: NodeJS.ProcessEnv): Colors {
  const forced = isSet(env.FORCE_COLOR) && env.FORCE_COLOR !== "0";
  const isTerminal = isatty(1) && env.TERM !== "dumb";
  return pc.createColors((forced || isTerminal) && !isSet(env.NO_COLOR));
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

/** The process's own streams as an Output. */
export function openOutput(json: boolean, env: NodeJS.ProcessEnv): Output {
  const { stdout, stderr } = process;
  return {
    json,
    colors: colorsFor(env),
    columns: isatty(1) ? stdout.columns || 80 : null,
    data: (text) => void stdout.write(`${text}\n`),
    document: (value) => void stdout.write(`${plainJson(value)}\n`),
    gather: () => {
      if (stdout.writableCorked > 0) return;
      stdout.cork();
      setImmediate(() => stdout.uncork());
    },
    note: (text) => void stderr.write(`${text}\n`),
    drained: () => drained(stdout),
  };
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.writableNeedDrain || stream.destroyed) return resolve();
    stream.once("drain", resolve);
    stream.once("close", resolve);
  });
}
