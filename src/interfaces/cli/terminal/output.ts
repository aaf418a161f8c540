import { isatty } from "node:tty";
import pc from "picocolors";
import type { Tone } from "../../views/agent-columns.ts";
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

/** A command's output: data on standard output, everything else on standard error. */
export type Output = ReturnType<typeof openOutput>;

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
export function openOutput(json: boolean, env: NodeJS.ProcessEnv) {
  const { stdout, stderr } = process;
  const data = (text: string): void => void stdout.write(`${text}\n`);
  const document = (value: unknown): void => void stdout.write(`${plainJson(value)}\n`);
  return {
    /** True with `--json`: standard output gets JSON only. */
    json,
    /** Colours for standard output; they do nothing off a terminal and with NO_COLOR. */
    colors: colorsFor(env),
    /** Width of the terminal; null when standard output is not one. */
    columns: isatty(1) ? stdout.columns || 80 : null,
    /** Writes one or more lines of data. */
    data,
    /** Writes one JSON document. */
    document,
    /** Writes the document with `--json`, else the text. */
    answer: (value: unknown, text: string): void => (json ? document(value) : data(text)),
    /** Writes all data of this turn of the event loop at once: for commands with much output. */
    gather: (): void => {
      if (stdout.writableCorked > 0) return;
      stdout.cork();
      setImmediate(() => stdout.uncork());
    },
    /** Writes a line for the person, beside the data. */
    note: (text: string): void => void stderr.write(`${text}\n`),
    /** Resolves once standard output has taken the data: a slow reader slows the writer. */
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
