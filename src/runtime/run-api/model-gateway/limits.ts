const mebibyte = 1024 * 1024;

/** Limits of the calls to models; times in ms. */
export const gatewayLimits = {
  maxBytes: 32 * mebibyte,
  /** Values of one body, as `JsonSize` counts them: more than those of a million tokens. */
  maxValues: 200_000,
  /** Memory for the calls of all runs, and of one. */
  totalBytes: 64 * mebibyte,
  runBytes: 48 * mebibyte,
  /** The longest answer: more than 128,000 tokens in the most verbose format, one event of 400 bytes for each. */
  answerBytes: 64 * mebibyte,
  /** How long a client may send nothing, and how long it may take to send a body. */
  silentMs: 10_000,
  timeoutMs: 120_000,
  /** How long a provider may send nothing by default: thinking models may be silent for minutes. */
  idleMs: 15 * 60_000,
  /**
   * How long, how much and for how many calls an answer is read after its client hung up; the time counts from the next
   * chunk on. Most answers end within the minute; 128,000 tokens in events of 300 bytes are 37 MiB. Calls to a silent
   * provider stay open equally long with and without a client.
   */
  readOnMs: 60_000,
  readOnBytes: 64 * mebibyte,
  readOnCalls: 256,
};

export type GatewayLimits = Readonly<typeof gatewayLimits>;
