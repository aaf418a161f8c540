import { createInputEstimates } from "../../../../src/features/spend/rules/input-estimate.ts";

test("new bytes of a request are estimated as a third of a token each, and known ones as counted", () => {
  const run = createInputEstimates();
  expect(run.estimate(3_000)).toBe(1_000);
  run.learn(3_000, 700);
  expect(run.estimate(3_600)).toBe(900);
  expect(run.estimate(10)).toBe(700);
});

test("a run whose text has more tokens than usual is estimated by its densest text from then on", () => {
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
