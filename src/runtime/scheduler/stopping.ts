import type { Observer } from "rxjs";
import type { Kill } from "../../../streams/runs/run-agent.ts";
import { counted } from "../../foundation/contracts/format.ts";

export type Phase = "starting" | "running" | "draining";

export interface StoppingDeps {
  readonly stopping$: Pick<Observer<void>, "next">;
  readonly kill$: Pick<Observer<Kill>, "next">;
  readonly graceMs: number;
  /** The outcome of runs that the stop ends. */
  readonly endsRunsAs: "killed" | "interrupted";
  readonly log: (message: string) => void;
  readonly running: () => number;
  /** Called once, when it begins to stop. */
  readonly begin: () => void;
  /** Aborts what still runs and ends the graph. */
  readonly abort: () => void;
}

export interface Stopping {
  phase(): Phase;
  /** The start is over; work may come. */
  started(): void;
  /** No new runs; the running ones get the grace period. Again is nothing new. */
  readonly stop: (reason: string) => void;
  /** No run gets more time; again leaves behind what is not gone yet. */
  readonly stopNow: (reason: string) => void;
  /** The graph is complete: nothing is left to stop. */
  done(): void;
}

/** A run that was killed gets this long to be gone before it is left behind, in ms. */
const lastResortMs = 10_000;

/** The same after a second request; a third one leaves them behind at once. In ms. */
const hurryMs = 2_000;

/** The way down: triggers stop, runs drain, then abort. */
export function createStopping(deps: StoppingDeps): Stopping {
  const timers = new Set<NodeJS.Timeout>();
  let phase: Phase = "starting";
  let isHurried = false;

  const after = (ms: number, what: () => void): void => {
    timers.add(setTimeout(what, ms));
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
    phase: () => phase,
    started: () => {
      if (phase === "starting") phase = "running";
    },
    stop: (reason) => {
      if (phase === "draining") return;
      // Before the log line: the live view keeps lines from here on for the terminal.
      begin();
      const running = deps.running();
      const left = running === 0 ? "" : `; ${haveTime(running, deps.graceMs)}`;
      deps.log(`stopping (${reason})${left}`);
      after(deps.graceMs, killAll);
      deps.stopping$.next();
    },
    stopNow: (reason) => {
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
    done: () => {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** Takes the steps in order. One that fails is logged and stops none of the others. Never rejects. */
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
