import fc from "fast-check";
import { createShares, type Release } from "../../../src/runtime/run-api/shares.ts";

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("createShares grants all requests within the total and each owner's limit", async () => {
  const request = fc.record({
    owner: fc.constantFrom("a", "b", "c"),
    amount: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 40 }), async (requests) => {
      const shares = createShares({ total: 10, perOwner: 6, assured: 2 });
      const open: { owner: string; amount: number; release: Release }[] = [];
      let served = 0;
      for (const { owner, amount } of requests) {
        void shares.acquire(owner, amount, never).then((release) => {
          served += 1;
          open.push({ owner, amount, release });
        });
      }
      const held = (name?: string) =>
        open
          .filter(({ owner }) => name === undefined || owner === name)
          .reduce((sum, { amount }) => sum + amount, 0);
      for (await settled(); open.length > 0; await settled()) {
        expect(held()).toBeLessThanOrEqual(10 + 2 * 3);
        for (const owner of ["a", "b", "c"]) expect(held(owner)).toBeLessThanOrEqual(6);
        open.shift()?.release();
      }
      expect(served).toBe(requests.length);
    }),
    { numRuns: 50 },
  );
});

test("createShares grants an owner's request next, however many of another owner wait", async () => {
  const shares = createShares({ total: 1, perOwner: 1 });
  const order: string[] = [];
  const take = (owner: string) =>
    shares.acquire(owner, 1, never).then(async (release) => {
      order.push(owner);
      await settled();
      release();
    });
  await Promise.all([...Array.from({ length: 20 }, () => take("hostile")), take("other")]);
  expect(order.indexOf("other")).toBeLessThan(3);
});

test("createShares grants an owner the guaranteed share even if others use up the total", async () => {
  const shares = createShares({ total: 10, perOwner: 5, assured: 2 });
  await shares.acquire("a", 5, never);
  await shares.acquire("b", 5, never);
  await shares.acquire("c", 2, never);
});

test("createShares does not let small requests overtake a waiting large one", async () => {
  const shares = createShares({ total: 10, perOwner: 8 });
  const first = await shares.acquire("a", 6, never);
  const large = shares.acquire("b", 8, never);
  let isServed = false;
  void shares.acquire("c", 1, never).then(() => (isServed = true));
  await settled();
  expect(isServed).toBe(false);
  first();
  await large;
});

test("createShares rejects a request beyond maxWaiting, and drops one whose signal aborts", async () => {
  const shares = createShares({ total: 1, perOwner: 1, maxWaiting: 1 });
  const release = await shares.acquire("a", 1, never);
  const gone = new AbortController();
  const waiting = shares.acquire("a", 1, gone.signal);
  await expect(shares.acquire("a", 1, never)).rejects.toThrow();
  gone.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  const next = shares.acquire("a", 1, never);
  release();
  release();
  await next;
});
