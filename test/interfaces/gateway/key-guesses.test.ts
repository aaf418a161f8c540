import type { FastifyRequest } from "fastify";
import { createKeyCheck } from "../../../src/interfaces/gateway/key-guesses.ts";
import { apiKey, testDeps } from "./start-gateway.ts";

function setUp(lateMs = 0) {
  const clock = { now: 1_000_000 };
  const deps = testDeps();
  const check = createKeyCheck(deps, { now: () => clock.now, lateMs });
  const show = (key: string, ip = "10.0.0.1", host = "localhost") =>
    check({ ip, headers: { host } } as FastifyRequest, key);
  const fail = async (
    times: number,
    ip: (n: number) => string = () => "10.0.0.1",
  ): Promise<void> => {
    for (let n = 0; n < times; n++) await show(`wrong ${n}`, ip(n)).catch(() => undefined);
  };
  return { clock, deps, show, fail };
}

const tooMany = { status: 429, code: "too_many_tries" };

test("a guesser who tries a key each 100 ms does not lock out the right key", async () => {
  const { clock, show, fail } = setUp();
  for (let second = 0; second < 60; second++) {
    await fail(10);
    clock.now += 1_000;
    expect(await show(apiKey)).toBe(true);
  }
});

test("200 wrong keys of an address in 10 s block its keys until these 10 s end", async () => {
  const { clock, deps, show, fail } = setUp();
  await fail(200);
  await expect(show(apiKey)).rejects.toMatchObject({
    ...tooMany,
    headers: { "retry-after": "10" },
  });
  expect(await show(apiKey, "10.0.0.2")).toBe(true);
  expect(await show(apiKey, "10.0.0.1", `${deps.sessions.privateHost}:8080`)).toBe(true);
  clock.now += 10_000;
  expect(await show(apiKey)).toBe(true);
});

test("600 wrong keys of many addresses in 10 s block all keys", async () => {
  const { show, fail } = setUp();
  await fail(600, (n) => `127.0.${n >> 8}.${n & 255}`);
  await expect(show(apiKey, "10.9.9.9")).rejects.toMatchObject(tooMany);
});

test("wrong keys of an IPv6 network count as those of one address", async () => {
  const { show, fail } = setUp();
  await fail(200, () => "2001:db8:1:2:a:b:c:d");
  await expect(show(apiKey, "2001:db8:1:2::1")).rejects.toMatchObject(tooMany);
  expect(await show(apiKey, "2001:db8:1:3::1")).toBe(true);
  expect(await show(apiKey, "2001:db8::1")).toBe(true);
});

test("the log has a line a minute about wrong keys, with their number", async () => {
  const { clock, deps, fail } = setUp();
  await fail(100);
  clock.now += 60_000;
  await fail(1);
  expect(deps.lines).toEqual([
    "40 the gateway refused a wrong API key, or an unknown or removed API token, from 10.0.0.1",
    "40 the gateway refused a wrong API key, or an unknown or removed API token, from 10.0.0.1 (and 99 more like it before)",
  ]);
});

test("the answer to the fifth wrong key in 10 s is delayed, that to the right key is not", async () => {
  const { show, fail } = setUp(300);
  await fail(4);
  const fifth = show("wrong");
  expect(await Promise.race([fifth, show(apiKey)])).toBe(true);
  expect(await fifth).toBe(false);
});
