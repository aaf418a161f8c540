import { expect, test } from "vitest";
import { undoStack } from "../../src/start/undo-stack.ts";

test("what was done is taken back once, the last first, whatever a step throws", () => {
  const problems: unknown[] = [];
  const taken: string[] = [];
  const stack = undoStack((error) => problems.push(error));
  const broken = new Error("this one can't");
  stack.push(() => taken.push("first"));
  stack.push(() => {
    throw broken;
  });
  stack.push(() => taken.push("last"));
  stack.undo();
  expect(taken).toEqual(["last", "first"]);
  expect(problems).toEqual([broken]);
  stack.undo();
  expect(taken).toHaveLength(2);
});
