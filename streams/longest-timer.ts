/** Longest timer in ms, beyond which it would fire at once; longer waits use several. */
export const longestTimerMs = 2 ** 31 - 1;
