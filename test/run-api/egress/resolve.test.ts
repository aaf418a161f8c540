import { expect, test } from "vitest";
import { createResolve } from "../../../src/run-api/egress/resolve.ts";

test("a literal is its own address, and looked up nowhere", async () => {
  const resolve = createResolve(() => Promise.reject(new Error("looked up")));
  expect(await resolve("203.0.113.1")).toEqual(["203.0.113.1"]);
  expect(await resolve("2001:db8::1")).toEqual(["2001:db8::1"]);
});

test("lookups whose callers are gone are not made: slow names of one run do not hold up others", async () => {
  const looked: string[] = [];
  const slow = Promise.withResolvers<readonly string[]>();
  const resolve = createResolve((host) => {
    looked.push(host);
    return host.startsWith("slow") ? slow.promise : Promise.resolve(["203.0.113.1"]);
  }, 50);
  const names = Array.from({ length: 20 }, (_none, index) => `slow${index}.allowed.test`);
  const [first, second, ...others] = names.map(resolve);
  for (const lookup of others) await expect(lookup).rejects.toThrow();
  slow.resolve([]);
  expect(await Promise.all([first, second])).toEqual([[], []]);
  expect(await resolve("quick.allowed.test")).toEqual(["203.0.113.1"]);
  expect(looked).toEqual([...names.slice(0, 2), "quick.allowed.test"]);
});
