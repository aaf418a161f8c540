import type { Expectation } from "../agent-config.ts";
import type { RunEnd } from "../vocabulary.ts";

/**
 * The end of a run by the expectation of its agent: a run that succeeded without the expected result has failed. The run
 * itself checks its returned value by the agent's schema, because a hostile schema takes any time.
 */
export function expectedEnd(end: RunEnd, said: boolean, expect: Expectation | null): RunEnd {
  if (expect === null || end.outcome !== "succeeded") return end;
  const reason = missingIn(end.value, said, expect);
  return reason === null ? end : { ...end, outcome: "failed", exitCode: 1, reason };
}

/** A schema, if any, decides whether null counts as a value. */
function missingIn(
  value: unknown,
  said: boolean,
  { returned, said: words, schema }: Expectation,
): string | null {
  const isNothing = value === undefined || (value === null && schema === null);
  if (isNothing && (returned || schema !== null)) return "nothing returned";
  return words && !said ? "said nothing" : null;
}
