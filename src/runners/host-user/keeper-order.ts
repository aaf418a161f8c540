/** A program and its arguments. */
export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * What the scheduler tells `al _run-agent` on its standard input, as one line of JSON. `keep` is followed by the job
 * as a second line; `signal` and `end` are for a run that is under way.
 */
export type KeeperOrder = KeepOrder | SignalOrder | EndOrder;

export interface KeepOrder {
  readonly order: "keep";
  readonly instanceId: string;
  readonly workDir: string;
  /** What runs. */
  readonly program: Program;
  /** Its environment; PATH, USER and LOGNAME are the keeper's own where they are missing. */
  readonly env: Readonly<Record<string, string>>;
  /** The run is ended after this even if no scheduler lives to do it, in ms. */
  readonly lifeMs: number;
  readonly maxLogBytes: number;
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

/** Asks the keeper to end its run by KILL; TERM asks it to pass on TERM. sudo relays both. */
export const killSignal = "SIGUSR2";

/** Throws when the text is no order; the message never quotes it. */
export function parseOrder(text: string): KeeperOrder {
  const order = JSON.parse(text) as Partial<KeeperOrder> | null;
  const known = ["keep", "signal", "end"].includes(order?.order ?? "");
  if (!known || typeof order?.instanceId !== "string") throw new Error("not an order");
  return order as KeeperOrder;
}
