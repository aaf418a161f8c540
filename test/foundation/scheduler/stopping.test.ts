import { closeAll } from "../../../src/foundation/scheduler/stopping.ts";

test("a failing step is logged, and the others run in order", async () => {
  const taken: string[] = [];
  const problems: unknown[] = [];
  const broken = new Error("disk full");
  await closeAll(
    [
      () => Promise.reject(broken),
      () => void taken.push("logs"),
      () => {
        throw broken;
      },
      () => void taken.push("lock"),
    ],
    (error) => problems.push(error),
  );
  expect(taken).toEqual(["logs", "lock"]);
  expect(problems).toEqual([broken, broken]);
});
