import { isoTime } from "../../../../streams/iso-times.ts";
import { jsonOf } from "../../../foundation/contracts/json-size.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { ProcessIdentity } from "./process-identity.ts";

/**
 * Kind of a line in a run's log file: standard output or error of the run, or a record as JSON. `run` comes from the
 * scheduler, `keeper` and `end` from the run's supervisor; the run itself can write neither.
 */
export type RunLogKind = "out" | "err" | "run" | "keeper" | "end";

export interface RunLogLine {
  /** Epoch ms. */
  readonly time: number;
  readonly kind: RunLogKind;
  readonly text: string;
}

/** Record `run`: how the next scheduler finds and adopts the run. */
export interface RunRecord {
  readonly agent: AgentConfig;
  /** Absolute folder of the run's project; absent in records of earlier versions. */
  readonly project?: string | undefined;
  /** The process started by the scheduler: sudo, or the supervisor itself. */
  readonly process: ProcessIdentity;
}

/** Record `keeper`: the run begins. */
export interface BeginRecord {
  /** Whether it has its own network. Absent in records of earlier versions. */
  readonly isClosed?: boolean | undefined;
  /** Why the run's processes have no PID namespace; null if they have one. */
  readonly unconfined: string | null;
  /** Why the network is open although it should be closed; null if it is as configured. Absent in earlier records. */
  readonly notClosed?: string | null | undefined;
}

/** Record `end`: the run and all its processes have ended. */
export interface EndRecord {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why the run never began; null if it began. */
  readonly rejected: string | null;
  /** Like `RunnerExit.blocked`. */
  readonly blocked?: boolean;
  /** Why the run's working directory could not be removed; null if it was. */
  readonly leftover: string | null;
}

/** Limit of a line's own text in bytes; longer output is cut before. Only a `run` record may be longer. */
export const maxTextBytes = 32 * 1024;

/** `2026-11-21T05:15:26.123Z out <text>`, so that people can read it too. `time` is epoch ms. */
export function runLogLine(kind: RunLogKind, text: string, time: number = Date.now()): string {
  return `${isoTime(time)} ${kind} ${text}\n`;
}

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (out|err|run|keeper|end) (.*)$/s;

/** The parts of a line; null if neither scheduler nor supervisor wrote it, such as a line of sudo. */
export function parseRunLogLine(line: string): RunLogLine | null {
  const [, time, kind, text] = form.exec(line) ?? [];
  if (time === undefined || text === undefined) return null;
  return { time: Date.parse(time), kind: kind as RunLogKind, text };
}

/** A record's content; null if it is incomplete. */
export const recordIn = (text: string): unknown => jsonOf(text) ?? null;
