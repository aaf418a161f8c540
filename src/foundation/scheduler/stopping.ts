import type { NextObserver } from "rxjs";
import type { Kill } from "../../../streams/runs/run-agent.ts";
import { counted } from "../contracts/format.ts";

export type Phase = "starting" | "running" | "draining";

export interface StoppingDeps {
  readonly stopping$: NextObserver<void>;
  readonly kill$: NextObserver<Kill>;
  readonly graceMs: number;
  /** The outcome of runs that the stop ends. */
  readonly endsRunsAs: "killed" | "interrupted";
  readonly log: (message: string) => void;
  readonly running: () => number;
  /** Called once, when the stop begins. */
  readonly begin: () => void;
  /** Aborts the remaining runs and ends the graph. */
  readonly abort: () => void;
}

export type Stopping = ReturnType<typeof createStopping>;

/** How long a killed run may take to exit before the stop no longer waits for it, in ms. */
const lastResortMs = 10_000;

/** How long runs have to end after a second request, in ms. A third request leaves them behind at once. */
const hurryMs = 2_000;

/** The stop: triggers end, runs drain, then abort. */
export function createStopping(deps: StoppingDeps) {
  const timers = new Set<NodeJS.Timeout>();
  let phase = "starting" as Phase;
  let isHurried = false;

  const after = (ms: number, action: () => void): void => {
    timers.add(setTimeout(action, ms));
  };
  const begin = (): void => {
    if (phase !== "draining") deps.begin();
    phase = "draining";
  };
  const killAll = (): void => {
    deps.kill$.next({ everything: deps.endsRunsAs });
    after(lastResortMs, deps.abort);
  };

  return {
    phase: (): Phase => phase,
    /** The start has ended; work may arrive. */
    started: (): void => {
      if (phase === "starting") phase = "running";
    },
    /** Starts no more runs; live ones get the grace period. Repeating it changes nothing. */
    stop: (reason: string): void => {
      if (phase === "draining") return;
      // Set before the log line: from now on the live view keeps lines for the terminal.
      begin();
      const running = deps.running();
      const left = running === 0 ? "" : `; ${haveTime(running, deps.graceMs)}`;
      deps.log(`stopping (${reason})${left}`);
      after(deps.graceMs, killAll);
      deps.stopping$.next();
    },
    /** Ends all runs now; a repeated call leaves the rest behind. */
    stopNow: (reason: string): void => {
      if (isHurried) return deps.abort();
      isHurried = true;
      begin();
      const running = deps.running();
      const ended = running === 0 ? "" : `; ending ${counted(running, "run")}`;
      deps.log(`stopping now (${reason})${ended}`);
      deps.stopping$.next();
      deps.kill$.next({ everything: deps.endsRunsAs });
      after(hurryMs, deps.abort);
    },
    /** The graph is complete: cancels the timers. A later request to stop logs nothing, as the log is closed. */
    done: (): void => {
      phase = "draining";
      isHurried = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** Runs the steps in order. A step that fails is logged, and the others still run. Never rejects. */
export async function closeAll(
  steps: readonly (() => void | Promise<void>)[],
  onProblem: (error: unknown) => void,
): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      onProblem(error);
    }
  }
}

/** `1 run has 30 s to finish`. */
function haveTime(runs: number, graceMs: number): string {
  return `${counted(runs, "run")} ${runs === 1 ? "has" : "have"} ${graceMs / 1000} s to finish`;
}
