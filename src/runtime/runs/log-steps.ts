import type { LogEntry } from "../../../streams/vocabulary.ts";
import { kindOf, type LogKind } from "../../foundation/contracts/log-kinds.ts";
import type { LogLine } from "../../foundation/logs/log-query.ts";
import type { TraceStep } from "./trace-view.ts";

/** A step as the records have it. Times are epoch ms; `end` is null while it is open. */
export interface Step extends Omit<TraceStep, "at" | "durationMs"> {
  readonly at: number;
  readonly end: number | null;
}

export const noAmounts = { tokens: null, usd: null, failure: null, position: null };

/** pino's number of an error. */
export const errorLevel = 50;

/** The longest name of a step. */
const nameCharacters = 200;

/** A text as the name of a step: its first line. */
export function nameOf(text: string): string {
  return (text.split("\n")[0] ?? "").slice(0, nameCharacters);
}

/** The hooks, tools, retries and, with `hasTurns`, turns in a run's log. */
export function stepsOfLog(lines: readonly LogLine[], hasTurns: boolean): readonly Step[] {
  const log = new LogSteps(hasTurns);
  for (const line of lines) {
    const kind = kindOf(line.entry);
    if (kind !== null) readers[kind]?.(log, line);
  }
  return log.steps;
}

class LogSteps {
  readonly steps: Step[] = [];
  /** When the model could answer: the time of its last input. */
  inputAt: number | null = null;
  turns = 0;
  readonly hasTurns: boolean;
  /** The places of open steps, by the id of the call. */
  readonly #open = new Map<string, number>();

  constructor(hasTurns: boolean) {
    this.hasTurns = hasTurns;
  }

  add({ id, entry }: LogLine, step: Pick<Step, "kind"> & Partial<Step>): void {
    const moment = { at: entry.time, end: entry.time };
    this.steps.push({ ...noAmounts, name: nameOf(entry.msg), ...moment, position: id, ...step });
  }

  begin(key: string, line: LogLine, kind: Step["kind"]): void {
    if (this.#open.has(key)) return;
    this.add(line, { kind, end: null });
    this.#open.set(key, this.steps.length - 1);
  }

  end(key: string, { time }: LogEntry, failure: string | null): void {
    const index = this.#open.get(key);
    const step = index === undefined ? undefined : this.steps[index];
    if (index !== undefined && step !== undefined)
      this.steps[index] = { ...step, end: time, failure };
    this.#open.delete(key);
  }
}

/** Hooks run one after the other. */
const hookKey = "hook";

/** The effect of a line on the steps, by its kind. */
const readers: Partial<Record<LogKind, (log: LogSteps, line: LogLine) => void>> = {
  hook: (log, line) => {
    const { entry } = line;
    if (entry.call !== undefined) log.end(hookKey, entry, hookFailure(entry));
    else if (entry.stream === undefined) log.begin(hookKey, line, "hook");
  },
  prompt: (log, { entry }) => {
    log.inputAt = entry.time;
  },
  tool: (log, line) => log.begin(String(line.entry.call), line, "tool"),
  "tool-result": (log, { entry }) => {
    log.end(String(entry.call), entry, entry.isError === true ? failureOf(entry) : null);
    log.inputAt = entry.time;
  },
  usage: (log, line) => {
    if (!log.hasTurns) return;
    const { time, tokens, costUsd } = line.entry;
    const amounts = { tokens: numberOrNull(tokens), usd: numberOrNull(costUsd) };
    log.add(line, {
      kind: "model",
      name: `turn ${++log.turns}`,
      at: log.inputAt ?? time,
      ...amounts,
    });
  },
  fallback: (log, line) => log.add(line, { kind: "retry" }),
  run: (log, line) => {
    const { level, outcome } = line.entry;
    if (level === warningLevel && outcome === undefined) log.add(line, { kind: "retry" });
  },
};

/** pino's number of a warning: those of a harness are about answers that failed. */
const warningLevel = 40;

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function hookFailure({ level, exitCode }: LogEntry): string | null {
  if (level < errorLevel) return null;
  return typeof exitCode === "number" ? `exit ${exitCode}` : "failed";
}

/** The exit code that a failed tool reports, or the first line of its output. */
function failureOf({ output }: LogEntry): string {
  const text = typeof output === "string" ? output.trim() : "";
  const [, code] = /\bexited with code (\d+)$/.exec(text) ?? [];
  return code === undefined ? nameOf(text) || "failed" : `exit ${code}`;
}
