import type { Expectation } from "../agent-config.ts";
import type { RunEnd } from "../vocabulary.ts";

/**
 * The end of a run by the expectation of its agent: a run that succeeded without it has failed. The run itself checks the
 * value that it returns by the agent's schema, because a hostile schema takes any time.
 */
export function expectedEnd(end: RunEnd, said: boolean, expect: Expectation | null): RunEnd {
  if (expect === null || end.outcome !== "succeeded") return end;
  const reason = missingIn(end.value, said, expect);
  return reason === null ? end : { ...end, outcome: "failed", exitCode: 1, reason };
}

/** Where there is a schema, it decides whether null is something. */
function missingIn(
  value: unknown,
  said: boolean,
  { returned, said: words, schema }: Expectation,
): string | null {
  const isNothing = value === undefined || (value === null && schema === null);
  if (isNothing && (returned || schema !== null)) return "nothing returned";
  return words && !said ? "said nothing" : null;
}
