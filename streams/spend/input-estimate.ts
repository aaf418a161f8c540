/** What is known of the requests of one run. */
export interface InputEstimates {
  /** The most that a request of so many bytes has, in tokens. */
  estimate(requestBytes: number): number;
  /** The provider counted them. */
  learn(requestBytes: number, inputTokens: number): void;
}

/** Bytes of a request for one token: a provider counts fewer tokens, about one for four bytes of English or code. */
const bytesPerToken = 3;

/**
 * Requests of a run grow by what was said since, so the last one's tokens are known and only the new bytes are
 * estimated. One that is shorter than the last counts as long, as providers may keep the conversation themselves.
 */
export function createInputEstimates(): InputEstimates {
  let last = { bytes: 0, tokens: 0 };
  return {
    estimate: (requestBytes) => {
      const newBytes = Math.max(0, requestBytes - last.bytes);
      return last.tokens + Math.ceil(newBytes / bytesPerToken);
    },
    learn: (bytes, tokens) => {
      last = { bytes, tokens };
    },
  };
}
