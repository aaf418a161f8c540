import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { HandedBack } from "../returned-value.ts";
import type { EndMessage } from "../run-output.ts";

const nothing = {
  exitCode: null,
  signal: null,
  outOfMemory: false,
  rejected: null,
  error: null,
  usage: null,
} as const;

/** The exit of a run that was stopped before its container ran. */
export const stoppedBeforeStart: RunnerEvent = {
  type: "exit",
  exit: { ...nothing, signal: "SIGTERM" },
};

/** The exit of a run whose end nobody saw. */
export function lostExit(reason: string, end: EndMessage | null): RunnerEvent {
  return {
    type: "exit",
    exit: { ...nothing, error: reason, lost: true, usage: end?.usage ?? null },
  };
}

/** What the engine tells of a container that ended. */
export interface Ending {
  readonly exitCode: number;
  readonly outOfMemory: boolean;
  /** Epoch ms; null when it does not say. */
  readonly endedAt: number | null;
}

/** The exit as the engine and the run's own account tell it. */
export function endedExit(
  { exitCode, outOfMemory, endedAt }: Ending,
  end: EndMessage | null,
  handedBack: HandedBack,
): RunnerEvent {
  const unexplained = end === null && exitCode === 0 ? "the run ended without its account" : null;
  const error = end?.error ?? unexplained;
  const usage = end?.usage ?? null;
  const when = endedAt === null ? {} : { endedAt };
  return {
    type: "exit",
    exit: { ...nothing, exitCode, outOfMemory, error, usage, ...handedBack, ...when },
  };
}
