import type { Time } from "./time.ts";

export interface SilenceTimer {
  /** Aborted when nothing came for the limit. */
  readonly signal: AbortSignal;
  /** Begins to count, again from zero when it counts already. */
  start(): void;
  stop(): void;
}

export function silenceTimer(
  limitMs: number,
  time: Pick<Time, "after">,
  onSilence: () => void,
): SilenceTimer {
  const controller = new AbortController();
  let stop = () => {};
  const expire = () => {
    onSilence();
    controller.abort(new Error("nothing came in time"));
  };
  return {
    signal: controller.signal,
    start: () => {
      stop();
      stop = time.after(limitMs, expire);
    },
    stop: () => stop(),
  };
}
