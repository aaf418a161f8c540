/** What happens first is written a moment later; then one look is enough for all that gathers meanwhile. */
const gatherWindowMs = 400;
const lookPauseMs = 1_000;

/** Turns many calls into few looks: one soon after the first call, and the next no sooner than a second later. */
export function soonOnce(look: () => Promise<void>): () => void {
  let isWanted = false;
  let isBusy = false;
  let isFirst = true;
  const start = (delay: number): void => {
    isBusy = true;
    isWanted = false;
    setTimeout(() => {
      void look().finally(() =>
        setTimeout(() => {
          isBusy = false;
          if (isWanted) start(gatherWindowMs);
        }, lookPauseMs),
      );
    }, delay);
  };
  return () => {
    isWanted = true;
    if (!isBusy) start(isFirst ? 0 : gatherWindowMs);
    isFirst = false;
  };
}
