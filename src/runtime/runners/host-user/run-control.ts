import { killSignal } from "./supervisor-order.ts";
import type { SupervisorOrder } from "./supervisor-order.ts";
import { isAlive } from "./process-identity.ts";
import type { ProcessIdentity } from "./process-identity.ts";

interface ControlOptions {
  readonly instanceId: string;
  readonly mark?: string | undefined;
  readonly workDir: string;
  /** What the scheduler started: sudo, which passes signals on, or the supervisor itself. */
  readonly process: ProcessIdentity;
  readonly graceMs: number;
  /** The way for what this user may not signal. */
  readonly send: (order: SupervisorOrder) => void;
}

/** How long a supervisor that was asked to kill has until it is gone round, in ms. */
const supervisorMs = 2000;

/** Ends a run by signals to its supervisor, and by orders where those are not permitted. */
export function runControl(options: ControlOptions) {
  const { instanceId, mark, workDir, send } = options;
  const timers = new Set<NodeJS.Timeout>();
  let over = false;
  const after = (ms: number, what: () => void) => {
    if (!over) timers.add(setTimeout(what, ms));
  };
  const signal = (name: NodeJS.Signals, otherwise: SupervisorOrder) => {
    if (over || !isAlive(options.process)) return;
    try {
      process.kill(options.process.pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EPERM") send(otherwise);
    }
  };
  const end: SupervisorOrder = { order: "end", instanceId, mark, workDir };
  const kill = () => {
    signal(killSignal, end);
    after(supervisorMs, () => {
      if (isAlive(options.process)) send(end);
      signal("SIGKILL", end);
    });
  };
  return {
    /** TERM, and KILL after the grace period. */
    stop: () => {
      signal("SIGTERM", { order: "signal", instanceId, mark, signal: "SIGTERM" });
      after(options.graceMs, kill);
    },
    kill,
    /** The run is over: nothing more is sent. */
    done: () => {
      over = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
