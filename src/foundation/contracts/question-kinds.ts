/**
 * `ask`: the run asked. `memory`: changes that an untrusted run proposes for a memory; the run has ended. Otherwise a gate
 * asks for the approval of a host, of more spending, of a call, or of a tool.
 */
export const questionKinds = ["ask", "host", "over", "call", "tool", "memory"] as const;

export const questionStates = ["open", "answered", "expired", "withdrawn"] as const;

/** The ways by which a person reaches the scheduler. */
export const personWays = [
  ...(["key", "login", "token", "link", "slack", "telegram", "terminal", "webhook"] as const),
] as const;

/** Limits of a question, in characters and seconds: a program's timer counts to 24.8 days. */
export const questionLimits = {
  prompt: 4_000,
  text: 4_000,
  choice: 200,
  choices: 10,
  seconds: 24 * 86_400,
  defaultSeconds: 86_400,
} as const;
