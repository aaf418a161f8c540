import { expect, test } from "vitest";
import { createLoginDelay } from "../../src/gateway/login-delay.ts";

function setUp() {
  const clock = { now: 1_000_000 };
  const delay = createLoginDelay(() => clock.now);
  const fail = (address: string, times: number): void => {
    for (let time = 0; time < times; time++) delay.failed(address);
  };
  return { clock, delay, fail };
}

test("the first mistakes are free, then each doubles the wait up to a minute", () => {
  const { delay, fail } = setUp();
  const waits = Array.from({ length: 13 }, () => {
    fail("10.0.0.1", 1);
    return delay.secondsToWait("10.0.0.1");
  });
  expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test("the wait passes, a success ends it, and so does a quarter of an hour", () => {
  const { clock, delay, fail } = setUp();
  fail("10.0.0.1", 6);
  clock.now += 1500;
  expect(delay.secondsToWait("10.0.0.1")).toBe(1);
  clock.now += 500;
  expect(delay.secondsToWait("10.0.0.1")).toBe(0);
  delay.succeeded("10.0.0.1");
  fail("10.0.0.1", 4);
  expect(delay.secondsToWait("10.0.0.1")).toBe(0);
  fail("10.0.0.1", 9);
  clock.now += 16 * 60_000;
  fail("10.0.0.1", 1);
  expect(delay.secondsToWait("10.0.0.1")).toBe(0);
});

test("an IPv6 network counts as one address, whichever way it is written", () => {
  const { delay, fail } = setUp();
  fail("2001:db8:1:2:a:b:c:d", 5);
  expect(delay.secondsToWait("2001:db8:1:2::1")).toBe(1);
  expect(delay.secondsToWait("2001:db8:1:3::1")).toBe(0);
  expect(delay.secondsToWait("2001:db8::1")).toBe(0);
});

test("a flood of addresses doesn't grow the memory: the oldest is forgotten", () => {
  const { delay, fail } = setUp();
  fail("10.0.0.1", 5);
  for (let index = 0; index < 10_000; index++) fail(`host-${index}`, 1);
  expect(delay.secondsToWait("10.0.0.1")).toBe(0);
});
