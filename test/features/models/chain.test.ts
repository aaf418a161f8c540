import { orderChain, withCooldown } from "../../../src/features/models/chain.ts";

const chain = [{ name: "first" }, { name: "second" }, { name: "third" }];
const names = (models: readonly { name: string }[]) => models.map(({ name }) => name);

test("the model chain keeps the configured order while nothing is in cooldown", () =>
  expect(names(orderChain(chain, new Map(), 0))).toEqual(["first", "second", "third"]));

test("the model chain tries models in cooldown last, the one that ends soonest first", () => {
  const cooldowns = new Map([
    ["first", 900],
    ["second", 500],
  ]);
  expect(names(orderChain(chain, cooldowns, 100))).toEqual(["third", "second", "first"]);
});

test("the model chain forgets expired cooldowns", () => {
  expect(names(orderChain(chain, new Map([["first", 500]]), 500))).toEqual(names(chain));
  expect([...withCooldown(new Map([["old", 10]]), "first", 50, 20).keys()]).toEqual(["first"]);
});

test("the model chain never shortens a cooldown", () =>
  expect(withCooldown(new Map([["first", 90]]), "first", 50, 20).get("first")).toBe(90));
