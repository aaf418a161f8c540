import { closest, mostLike } from "../../../src/foundation/contracts/did-you-mean.ts";

const agents = ["dev", "review", "release-notes"];

test.each([
  ["reveiw", "review"],
  ["dve", "dev"],
  ["release-note", "release-notes"],
  ["dev", null],
  ["", null],
])("the closest known word to %j is %j", (word, candidate) =>
  expect(closest(word, agents)).toBe(candidate),
);

const like = ["cron", "dev-frontend", "from", "zzzzzzzzzzzzzzzzzz"];
test("mostLike returns nothing for a word of 10,000 characters", () =>
  expect(mostLike("x".repeat(10_000), like, 3)).toEqual([]));

test.each([
  ["front", ["dev-frontend", "from", "cron"]],
  ["dev-frontend-issues", ["dev-frontend"]],
])("mostLike of %j is %j", (word, names) =>
  expect(mostLike(word, like, 3).toSorted()).toEqual(names.toSorted()),
);
