import { Subject } from "rxjs";
import { expect, test } from "vitest";
import { fileProblem } from "../../../src/foundation/config/diagnostics.ts";
import { newProblems } from "../../../src/foundation/files/watch-files.ts";
import { problemText } from "../../../streams/problem-text.ts";
import type { Problem } from "../../../streams/vocabulary.ts";

const [bad, worse] = [fileProblem("agents/Bad", "no"), fileProblem("agents/Worse", "no")];

test("tells a problem once, and again when it went and came back", async () => {
  const look$ = new Subject<void>();
  const answers: Problem[][] = [[bad], [bad, worse], [bad, worse], [worse], [bad, worse]];
  const looks: string[][] = [];
  const told: string[] = [];
  const look = () => Promise.resolve({ problems: answers.shift() ?? [] });
  newProblems(look$, look, [bad]).subscribe((text) => told.push(text));
  while (answers.length > 0) {
    look$.next();
    await new Promise(setImmediate);
    looks.push(told.splice(0));
  }
  expect(looks).toEqual([[], [problemText(worse)], [], [], [problemText(bad)]]);
});
