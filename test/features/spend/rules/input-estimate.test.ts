import { createInputEstimates } from "../../../../src/features/spend/rules/input-estimate.ts";

test("the token estimate of a run uses the highest ratio of tokens to bytes seen so far", () => {
  const run = createInputEstimates();
  run.learn(3_000, 1_000);
  run.learn(4_000, 1_500);
  expect(run.estimate(5_000)).toBe(2_000);
  run.learn(7_000, 2_250);
  expect(run.estimate(8_000)).toBe(2_750);
});

test("a byte of the input counts as one token at most", () => {
  const run = createInputEstimates();
  run.learn(10, 5_000);
  expect(run.estimate(1_010)).toBe(6_000);
});
