import { concatMap, defer, from } from "rxjs";
import type { Observable } from "rxjs";
import { problemText } from "../../streams/problem-text.ts";
import type { Problem } from "../../streams/vocabulary.ts";

/**
 * What is wrong now and was not when it was looked last, as texts; looks at each value of `look$`, one after the
 * other. A problem that went and came back is told again.
 */
export function newProblems(
  look$: Observable<unknown>,
  look: () => Promise<{ readonly problems: readonly Problem[] }>,
  known: readonly Problem[],
): Observable<string> {
  return defer(() => {
    let told = new Set(known.map(problemText));
    const untold = ({ problems }: { readonly problems: readonly Problem[] }): string[] => {
      const texts = problems.map(problemText);
      const fresh = texts.filter((text) => !told.has(text));
      told = new Set(texts);
      return fresh;
    };
    return look$.pipe(
      concatMap(() => from(look())),
      concatMap(untold),
    );
  });
}
