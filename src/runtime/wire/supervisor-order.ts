import type { RunNetwork } from "../../../streams/run-network.ts";

/** A variable of the run, `closed` or `open`: the network of a host user's run is known only at its start. */
export const networkVariable = "AL_NETWORK";

/** A program and its arguments. */
export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * The scheduler's input to `al _run-agent`, as one line of JSON. `keep` is followed by the job as a second line;
 * `signal` and `end` are for a live run.
 */
export type SupervisorOrder = RunOrder | SignalOrder | EndOrder;

export interface RunOrder {
  readonly order: "keep";
  readonly instanceId: string;
  readonly workDir: string;
  /** The program of the run. */
  readonly program: Program;
  /** The run's environment; by default PATH, USER and LOGNAME are the supervisor's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly network: RunNetwork;
  /** Whether an earlier run of this user had the best isolation: then this one has it too, or does not start. */
  readonly mustIsolate: boolean;
  /** The run is ended after this even without a live scheduler, in ms. */
  readonly lifeMs: number;
}

/** Sends a signal to every process of a run. */
interface SignalOrder {
  readonly order: "signal";
  readonly instanceId: string;
  readonly signal: "SIGTERM";
}

/** Kills every process of a run and removes its working directory. */
interface EndOrder {
  readonly order: "end";
  readonly instanceId: string;
  readonly workDir: string;
}

/** Asks the supervisor to end its run by KILL; TERM makes it forward TERM. sudo relays both. */
export const killSignal = "SIGUSR2";

/** Throws for any other text; the message never quotes it. */
export function parseOrder(text: string): SupervisorOrder {
  const order = JSON.parse(text) as Partial<SupervisorOrder> | null;
  const known = ["keep", "signal", "end"].includes(order?.order ?? "");
  if (!known || typeof order?.instanceId !== "string") throw new Error("not an order");
  return order as SupervisorOrder;
}
