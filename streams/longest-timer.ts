/** A timer past this fires at once, in ms. */
export const longestTimerMs = 2 ** 31 - 1;
