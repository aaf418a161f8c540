import { setImmediate as turn } from "node:timers/promises";
import { inTurn } from "../../../src/foundation/contracts/in-turn.ts";

/** Takes the main thread for this time, in ms. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

// Other tests of this process may have used up the time.
beforeEach(() => inTurn("", () => undefined));

test("long work on request bodies yields to the event loop between two bodies, and owners take turns", async () => {
  const order: string[] = [];
  const work = (owner: string) => inTurn(owner, () => (block(15), order.push(owner)));
  const all = Promise.all([...["a", "a", "a"].map(work), work("b")]);
  expect(order).toEqual(["a"]);
  for (let done = 1; done < 4; done = order.length) {
    await turn();
    expect(order.length - done).toBeLessThanOrEqual(1);
  }
  await all;
  expect(order).toEqual(["a", "a", "b", "a"]);
});

test("short work on a request body is done at once, and its failure rejects only the caller", async () => {
  const order: number[] = [];
  const failing = inTurn("a", () => {
    throw new Error("no JSON");
  });
  const all = [1, 2, 3].map((n) => inTurn("a", () => order.push(n)));
  expect(order).toEqual([1, 2, 3]);
  await expect(failing).rejects.toThrow("no JSON");
  await Promise.all(all);
});
