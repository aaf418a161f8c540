export interface SilenceTimer {
  /** Aborted when nothing came for the limit. */
  readonly signal: AbortSignal;
  /** Begins to count, again from zero when it counts already. */
  start(): void;
  stop(): void;
}

/** The longest time that a timer of Node counts, in ms. */
const longestMs = 2 ** 31 - 1;

export function silenceTimer(limitMs: number, onSilence: () => void): SilenceTimer {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const expire = () => {
    onSilence();
    controller.abort(new Error("nothing came in time"));
  };
  return {
    signal: controller.signal,
    start: () => {
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(limitMs, longestMs));
    },
    stop: () => clearTimeout(timer),
  };
}
