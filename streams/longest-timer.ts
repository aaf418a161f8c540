/** A timer past this fires at once, in ms; so who waits for longer is rung after that. */
export const longestTimerMs = 2 ** 31 - 1;
