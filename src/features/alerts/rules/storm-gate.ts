/** From here on, alerts with one cause within `stormMs` are a storm. */
const mostOfOneCause = 5;
/** From here on, all alerts within `stormMs` are. */
const mostOfAll = 20;
export const stormMs = 60_000;

/** Whether an alert with this cause is part of a storm now (epoch ms). Each alert asks once. */
export type StormGate = (cause: string, now: number) => boolean;

/** Nothing was alerted at first. It remembers as many times and causes as a minute has alerts before a storm. */
export function createStormGate(): StormGate {
  const ofAll: number[] = [];
  const byCause = new Map<string, number[]>();
  const isOver = (times: readonly number[], most: number, now: number): boolean => {
    const [first] = times;
    return times.length === most && first !== undefined && first > now - stormMs;
  };
  const forgetOld = (now: number): void => {
    for (const [cause, times] of byCause) {
      if ((times.at(-1) ?? 0) <= now - stormMs) byCause.delete(cause);
    }
  };
  /** A cause that is new while a storm goes on is not remembered: the storm is all that matters. */
  const timesOf = (cause: string, isStorm: boolean, now: number): number[] => {
    const known = byCause.get(cause);
    if (known !== undefined || isStorm) return known ?? [];
    forgetOld(now);
    const times: number[] = [];
    byCause.set(cause, times);
    return times;
  };
  return (cause, now) => {
    const isStorm = isOver(ofAll, mostOfAll, now);
    const ofCause = timesOf(cause, isStorm, now);
    const isOfOneCause = isOver(ofCause, mostOfOneCause, now);
    remember(ofAll, mostOfAll, now);
    remember(ofCause, mostOfOneCause, now);
    return isStorm || isOfOneCause;
  };
}

function remember(times: number[], most: number, now: number): void {
  times.push(now);
  if (times.length > most) times.shift();
}
