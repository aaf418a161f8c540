import { map, of } from "rxjs";
import type { Observable } from "rxjs";
import type { Expectation, ExpectedSchema } from "../agent-config.ts";
import type { RunEnd } from "../vocabulary.ts";

/** Emits why a value does not meet a schema, in one line; null when it does. Emits once, never errors. */
export type CheckValue = (schema: ExpectedSchema, value: unknown) => Observable<string | null>;

/**
 * How a run ended, in view of what its agent expects: one that succeeded without it has failed. The run itself can't
 * prevent that, as it is decided after its end.
 */
export function expectedEnd(
  end: RunEnd,
  said: boolean,
  expect: Expectation | null,
  checkValue: CheckValue,
): Observable<RunEnd> {
  if (expect === null || end.outcome !== "succeeded") return of(end);
  const missing = missingIn(end.value, said, expect);
  if (missing !== null) return of(failed(end, missing));
  if (expect.schema === null) return of(end);
  return checkValue(expect.schema, end.value).pipe(
    map((reason) => (reason === null ? end : failed(end, reason))),
  );
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

function failed(end: RunEnd, reason: string): RunEnd {
  return { ...end, outcome: "failed", exitCode: 1, reason };
}
