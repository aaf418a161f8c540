import type { CallUsage } from "../../../foundation/contracts/price.ts";

/** Bytes of a text for one token, until more is known: providers count about one for four bytes of English or code. */
export const usualBytesPerToken = 3;
/** No tokenizer has tokens of less than one byte. */
const leastBytes = 1;

/** The usage of a request without an answer, by its bytes. */
export function usageOfRequest(requestBytes: number): CallUsage {
  const input = Math.ceil(requestBytes / usualBytesPerToken);
  return { input, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0 };
}

/**
 * Requests of a run grow by the messages since, so the last one's tokens are known and only the new bytes are
 * estimated, at the highest rate of tokens that the run has sent, as of hex digits or a rare script. A request that is
 * shorter than the last counts as long, as providers may keep the conversation themselves.
 */
export function createInputEstimates() {
  let last = { bytes: 0, tokens: 0 };
  let bytesPerToken = usualBytesPerToken;
  return {
    /** Upper estimate of a request's tokens by its bytes. */
    estimate: (requestBytes: number): number => {
      const newBytes = Math.max(0, requestBytes - last.bytes);
      return last.tokens + Math.ceil(newBytes / bytesPerToken);
    },
    /** Learns from the provider's count. */
    learn: (bytes: number, tokens: number) => {
      const [newBytes, newTokens] = [bytes - last.bytes, tokens - last.tokens];
      if (newBytes > 0 && newTokens > 0) {
        bytesPerToken = Math.max(leastBytes, Math.min(bytesPerToken, newBytes / newTokens));
      }
      last = { bytes, tokens };
    },
  };
}

/** Learned facts about the requests of one run. */
export type InputEstimates = ReturnType<typeof createInputEstimates>;
