/**
 * A second interrupt within this time, in milliseconds, is the same one: a terminal gives Ctrl-C to the whole group,
 * and npm (or al on an old Node) passes its own on.
 */
const sameInterrupt = 250;

/** A scheduler or a run that signals stop. */
export interface Stoppable {
  stop(reason: string): void;
  stopNow(): void;
}

export type StopSignals = ReturnType<typeof watchStopSignals>;

/** Listens from the start, so that a signal during it doesn't leave half of a scheduler behind. */
export function watchStopSignals() {
  let first: { reason: string } | null = null;
  let lastAt = 0;
  let twice = false;
  let stop: (reason: string) => void = () => undefined;
  let stopNow: () => void = () => undefined;

  const ask = (reason: string): void => {
    if (first !== null) return;
    first = { reason };
    stop(reason);
  };
  const again = (): void => {
    twice = true;
    stopNow();
  };
  const receive = (signal: NodeJS.Signals): void => {
    const isSame = performance.now() - lastAt < sameInterrupt;
    lastAt = performance.now();
    if (first === null) return ask(signal);
    if (signal === "SIGINT" && !isSame) again();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, receive);

  return {
    /** Lets signals stop it, also one that came before. `onInterrupt` is called on the first interrupt. */
    forwardTo: (target: Stoppable, onInterrupt: () => void) => {
      stopNow = () => target.stopNow();
      stop = (reason) => {
        if (reason === "SIGINT") onInterrupt();
        target.stop(reason);
      };
      if (first !== null) stop(first.reason);
      if (twice) stopNow();
    },
    /** Asks for a stop as a signal would; after that one interrupt more stops at once. */
    stop: ask,
    /** A Ctrl-C that was read as a key. */
    interrupt: () => (first === null ? ask("SIGINT") : again()),
    /** Whether anything asked for a stop. */
    wereGiven: () => first !== null,
    /** Whether a second interrupt cut it short. */
    wereTwice: () => twice,
  };
}

/**
 * Aborts on Ctrl-C and SIGTERM, once this was called: for a command that has something to remove before it ends. It
 * is for the rest of the process.
 */
export function interrupted(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => asked.abort());
  return asked.signal;
}
