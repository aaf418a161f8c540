import { exitEvent, type RunnerEvent, type RunnerExit } from "../../../streams/runs/runner.ts";
import { machineFault } from "../wire/machine-fault.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { EndMessage, HandedBack } from "./run-output.ts";

/** The exit of a run that never began. */
export function rejectedExit(reason: string): RunnerEvent {
  return exitEvent({ rejected: reason });
}

/** The exit of a run that the machine can't start now; it may be able to later. */
export function blockedExit(reason: string): RunnerEvent {
  return exitEvent({ rejected: reason, blocked: true });
}

/** The exit of a run whose start failed before its process received a request; `place` is the folder that it writes to. */
export function failedStart(error: unknown, place: string, reason = reasonOf(error)): RunnerEvent {
  const fault = machineFault(error, place);
  return fault === null ? rejectedExit(reason) : blockedExit(fault);
}

/** The exit of a run whose end was not observed. */
export function lostExit(reason: string, end: EndMessage | null = null): RunnerEvent {
  return exitEvent({ error: reason, lost: true, usage: end?.usage ?? null });
}

/** A run's end as its runtime reports it. */
export interface Ending {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** Epoch ms; null if it is unknown. */
  readonly endedAt: number | null;
}

/** The exit from the reports of the run's runtime and of the run itself. */
export function endedExit(
  { endedAt, ...ending }: Ending,
  end: EndMessage | null,
  handedBack: HandedBack,
): RunnerEvent {
  if (end?.blocked === true) return blockedExit(end.error ?? "");
  const when = endedAt === null ? {} : { endedAt };
  return exitEvent({ ...ending, ...reported(end, ending.exitCode), ...handedBack, ...when });
}

function reported(end: EndMessage | null, exitCode: number | null): Partial<RunnerExit> {
  if (end === null) {
    return { error: exitCode === 0 ? "the run ended without a report" : null, usage: null };
  }
  const stopped = end.stopped === true ? { stopped: true } : {};
  return { error: end.error, usage: end.usage, ...stopped };
}
