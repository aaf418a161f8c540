import { closest, mostLike } from "../../../src/foundation/contracts/did-you-mean.ts";

const agents = ["dev", "review", "release-notes"];

test.each([
  ["reveiw", "review"],
  ["dve", "dev"],
  ["Dev", "dev"],
  ["release-note", "release-notes"],
  ["relase-ntes", "release-notes"],
  ["dev", null],
  ["nightly", null],
  ["", null],
])("%j was probably meant to be %j", (word, candidate) =>
  expect(closest(word, agents)).toBe(candidate),
);

test("a word's suggestion is never itself, but may be a neighbour", () =>
  expect(closest("dev", ["dev", "deva"])).toBe("deva"));

test("an empty list has no suggestion", () => expect(closest("dev", [])).toBeNull());

test.each([
  ["front", ["dev-frontend", "from", "cron"]],
  ["dev-frontend-issues", ["dev-frontend"]],
  ["x".repeat(10_000), []],
])("%j is most like %j", (word, names) =>
  expect(
    mostLike(word, ["cron", "dev-frontend", "from", "zzzzzzzzzzzzzzzzzz"], 3).toSorted(),
  ).toEqual(names.toSorted()),
);

test("suggestions come best first", () =>
  expect(mostLike("front", ["dev", "dev-frontend", "from"], 2)).toEqual(["dev-frontend", "from"]));
