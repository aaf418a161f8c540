import { orderChain, withCooldown } from "../../../src/features/models/chain.ts";

const chain = [{ name: "first" }, { name: "second" }, { name: "third" }];

test.each([
  ["keeps the configured order while nothing is in cooldown", {}, 0, ["first", "second", "third"]],
  [
    "tries models in cooldown last, the one that ends soonest first",
    { first: 900, second: 500 },
    100,
    ["third", "second", "first"],
  ],
  ["forgets expired cooldowns", { first: 500 }, 500, ["first", "second", "third"]],
])("the chain of fallback models %s", (_, cooldowns, now, names) => {
  const ordered = orderChain(chain, new Map(Object.entries(cooldowns)), now);
  expect(ordered.map(({ name }) => name)).toEqual(names);
});

test("a new cooldown of a model drops expired cooldowns, and shortens no other cooldown", () => {
  const cooldowns = withCooldown(new Map(Object.entries({ old: 10, first: 90 })), "first", 50, 20);
  expect([...cooldowns]).toEqual([["first", 90]]);
});
