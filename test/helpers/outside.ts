import { join } from "node:path";

export interface Outside {
  /** The address of each name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The port of 127.0.0.1 that stands for port 443 of each address, or for `address:port`. */
  readonly ports: Readonly<Record<string, number>>;
  /** The server that stands for an origin in the scheduler's own requests. */
  readonly origins?: Readonly<Record<string, string>>;
}

/** Environment of a scheduler for which these names and addresses are the internet. */
export function withOutside(outside: Outside): NodeJS.ProcessEnv {
  return {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "outside.mjs")}`,
    AL_TEST_OUTSIDE: JSON.stringify(outside),
  };
}
