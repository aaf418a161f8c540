/** The behaviour of a request's run; each runner's harness sees to it in its own way. */
export const scenarios = [
  /** Logs `one`, `two`, `three`, sets the status `working`, ends with usage of 7 tokens. */
  "three-lines",
  /** Logs its own instance id twenty times, with pauses. */
  "chatter",
  /** Exits with 7 without a word. */
  "exit-7",
  /** Says that it failed with `model is tired`, exits with 1. */
  "own-error",
  /** Returns 1, then `{"text":"a b"}` in two pieces, and asks to be started again. */
  "returns",
  /** Logs `ready`, runs on until TERM and then exits with 143. */
  "ends-on-term",
  /** Logs `ready`, runs on and ignores TERM. */
  "ignores-term",
  /** Cannot be started. */
  "cannot-start",
  /** Writes one line of five million bytes, then logs `after`. */
  "huge-line",
  /** Writes 200 KB of noise, then logs `after`. */
  "garbage",
] as const;
export type Scenario = (typeof scenarios)[number];

/** The grace period that a harness gives its runner, in ms. */
export const contractGraceMs = 400;
