import { Problem } from "../../src/foundation/errors.ts";
import { createTokens, type Tokens } from "../../src/features/tokens/tokens.ts";

/** API tokens that live as long as the test. */
export function memoryTokens(now: () => number = Date.now): Tokens {
  const names = new Set<string>();
  return createTokens({
    now,
    warn: () => undefined,
    store: {
      all: () => [],
      add: ({ name }) => {
        if (names.has(name)) return Promise.reject(new Problem("token_exists", "There is one."));
        names.add(name);
        return Promise.resolve();
      },
      remove: (name) => Promise.resolve(names.delete(name)),
      removeLater: () => Promise.resolve(true),
      use: () => Promise.resolve(undefined),
    },
  });
}
