import type { RunnerEvent } from "../../streams/runs/runner.ts";
import type { HandedBack } from "./returned-value.ts";
import type { EndMessage } from "./run-output.ts";

const nothing = {
  exitCode: null,
  signal: null,
  outOfMemory: false,
  rejected: null,
  error: null,
  usage: null,
} as const;

/** The exit of a run that was stopped before it began. */
export const stoppedBeforeStart: RunnerEvent = {
  type: "exit",
  exit: { ...nothing, signal: "SIGTERM" },
};

/** The exit of a run whose end was not observed. */
export function lostExit(reason: string, end: EndMessage | null): RunnerEvent {
  return {
    type: "exit",
    exit: { ...nothing, error: reason, lost: true, usage: end?.usage ?? null },
  };
}

/** A run's end as its runtime reports it. */
export interface Ending {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** Epoch ms; null when it is unknown. */
  readonly endedAt: number | null;
}

/** The exit as the run's runtime and its own account report it. */
export function endedExit(
  { endedAt, ...ending }: Ending,
  end: EndMessage | null,
  handedBack: HandedBack,
): RunnerEvent {
  const unexplained =
    end === null && ending.exitCode === 0 ? "the run ended without its account" : null;
  const error = end?.error ?? unexplained;
  const usage = end?.usage ?? null;
  const when = endedAt === null ? {} : { endedAt };
  return {
    type: "exit",
    exit: { ...nothing, ...ending, error, usage, ...handedBack, ...when },
  };
}
