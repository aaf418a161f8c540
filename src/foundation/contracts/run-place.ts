/** Where a run works, and all its variables: the input of a prewarmed worker, in one line of JSON. */
export interface RunPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `closed` or `open`: what a run of a host user has of the network, which only its start finds out. */
export const networkVariable = "AL_NETWORK";
