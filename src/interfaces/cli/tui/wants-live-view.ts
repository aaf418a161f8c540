/** What decides whether a person looks at a terminal. */
export interface TerminalFacts {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  readonly headless: boolean;
  readonly json: boolean;
}

/** True on a terminal that can draw, unless lines were asked for or a CI system gave it. */
export function wantsLiveView({ stdin, stdout, env, headless, json }: TerminalFacts): boolean {
  if (headless || json || env.TERM === "dumb" || isSet(env.CI)) return false;
  return stdin.isTTY === true && stdout.isTTY === true;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value);
}
