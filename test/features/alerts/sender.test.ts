import { createAlertStore, type AlertStore } from "../../../src/features/alerts/alert-store.ts";
import type { TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { accepted, deliveryOf, failed, senderWorld, start } from "./sender-world.ts";

const all = { before: null, limit: 100 } as const;

test("the sender attempts a delivery at its times, always with the same id, and gives it up after the eighth", async () => {
  const world = senderWorld({ send: () => Promise.resolve(failed()) });
  await world.add("1@ops");
  const waits = [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000];
  let at = 0;
  for (const [index, wait] of waits.entries()) {
    world.until(at + Math.max(0, wait - 1));
    if (wait > 0) await world.settled();
    expect(world.attempts.length).toBeLessThanOrEqual(Math.max(1, index));
    at += wait;
    world.until(at);
    await world.recorded(index + 1);
  }
  expect(world.attempts.map((one) => one.at)).toEqual([
    0, 5, 305, 2105, 9305, 27_305, 63_305, 99_305,
  ]);
  expect(new Set(world.attempts.map(({ id }) => id))).toEqual(new Set(["1@ops"]));
  expect(world.store.list(all)).toMatchObject([
    { state: "dead", attempts: 8, lastError: "it answered 500", endedAt: start + 99_305_000 },
  ]);
  expect(world.problems).toHaveLength(1);
  expect(world.problems[0]).toContain("not delivered to ops: it answered 500");
  world.until(1_000_000);
  await world.settled();
  expect(world.attempts).toHaveLength(8);
});

test("the sender continues when the clock is set back by years, also for a target in backoff", async () => {
  const answers = [failed(3_600_000), failed(), failed()];
  const world = senderWorld({ send: () => Promise.resolve(answers.shift() ?? accepted) });
  await world.add("1@ops", "2@dev");
  await world.recorded(2);
  world.until(31);
  await world.recorded(3);
  // Both targets sleep: only then is the clock set back.
  await world.settled();
  world.setBack(9_000 * 86_400);
  world.until(62);
  await world.recorded(5);
  expect(world.counts()).toEqual({ waiting: 0, dead: 0 });
});

test("the sender stops even if the store accepts no writes", async () => {
  const store: AlertStore = {
    ...tempStore().tables(createAlertStore),
    attempted: () => new Promise(() => null),
  };
  const world = senderWorld({ store, closeMs: 50 });
  await world.add("1@ops");
  await expect.poll(() => world.attempts.length).toBe(1);
  await world.settled();
  await world.sender.close();
  expect(world.counts()).toEqual({ waiting: 1, dead: 0 });
});

test("the sender delays attempts by up to a tenth", async () => {
  const world = senderWorld({ send: () => Promise.resolve(failed()), random: () => 1 });
  await world.add("1@ops");
  await world.recorded(1);
  expect(world.store.nextAt("ops")).toBe(start + 5_500);
});

test("the sender sends one alert at a time to a target, the oldest first", async () => {
  let inFlight = 0;
  let most = 0;
  const send = async (): Promise<TargetAnswer> => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight--;
    return accepted;
  };
  const world = senderWorld({ send });
  await world.add("1@ops", "2@ops", "3@ops", "4@ops");
  world.sender.wake();
  await world.recorded(4);
  expect(most).toBe(1);
  expect(world.attempts.map(({ id }) => id)).toEqual(["1@ops", "2@ops", "3@ops", "4@ops"]);
  expect(world.counts()).toEqual({ waiting: 0, dead: 0 });
});

test("the sender is not delayed by a target that hangs", async () => {
  const { promise, resolve } = Promise.withResolvers<TargetAnswer>();
  const world = senderWorld({
    send: (_message, { name }) => (name === "ops" ? promise : Promise.resolve(accepted)),
  });
  await world.add("1@ops", "2@ops", "3@dev", "4@dev");
  await world.recorded(2);
  expect(world.attempts.map(({ id }) => id).sort()).toEqual(["1@ops", "3@dev", "4@dev"]);
  resolve(accepted);
  await world.recorded(4);
});

test("the sender holds all deliveries to a target for as long as it asks", async () => {
  const answers = [failed(60_000)];
  const world = senderWorld({
    send: (_message, { name }) =>
      Promise.resolve((name === "ops" ? answers.shift() : undefined) ?? accepted),
  });
  await world.add("1@ops", "2@ops", "3@dev");
  await world.recorded(2);
  world.until(59);
  await world.settled();
  expect(world.attempts.map(({ id }) => id).sort()).toEqual(["1@ops", "3@dev"]);
  world.until(60);
  await world.recorded(4);
  expect(world.counts()).toEqual({ waiting: 0, dead: 0 });
});

test("the sender sends a stored delivery after a restart, when it is due", async () => {
  const store = tempStore().tables(createAlertStore);
  await store.record({
    states: [],
    deliveries: [{ ...deliveryOf("1@ops"), nextAt: start + 10_000 }],
  });
  const world = senderWorld({ store });
  world.sender.wake();
  world.until(9);
  await world.settled();
  expect(world.attempts).toEqual([]);
  world.until(10);
  await world.recorded(1);
  expect(world.attempts).toEqual([{ id: "1@ops", target: "ops", at: 10 }]);
});

const gone = { type: "gone", error: "it answered 410" } as const;

test("a target that is gone is switched off, and later alerts are not sent to it", async () => {
  const world = senderWorld({ send: () => Promise.resolve(gone) });
  await world.add("1@ops", "2@ops");
  await world.recorded(2);
  await world.add("3@ops");
  await world.recorded(3);
  expect(world.attempts.map(({ id }) => id)).toEqual(["1@ops"]);
  expect(world.store.switchedOff().get("ops")).toEqual({ at: start, reason: "it answered 410" });
  expect(world.counts()).toEqual({ waiting: 0, dead: 3 });
  expect(world.store.list(all).map(({ lastError }) => lastError)).toContain(
    "switched off: it answered 410",
  );
  expect(world.problems).toEqual([
    'ops is switched off: it answered 410; "al alerts test ops" switches it on again',
  ]);
});

test("a target that is gone gets deliveries that are retried by hand once it is on again", async () => {
  const answers: TargetAnswer[] = [gone];
  const world = senderWorld({ send: () => Promise.resolve(answers.shift() ?? accepted) });
  await world.add("1@ops");
  await world.recorded(1);
  await world.store.switchOff("ops", null);
  expect(await world.store.retry("1@ops", world.now())).toBe(true);
  world.sender.wake();
  await world.recorded(2);
  expect(world.store.list(all)).toMatchObject([{ id: "1@ops", state: "sent" }]);
});

test("a target that is gone gives up deliveries to a target that the project no longer has", async () => {
  const world = senderWorld({ targets: () => [] });
  await world.add("1@ops");
  await world.recorded(1);
  expect(world.attempts).toEqual([]);
  expect(world.store.list(all)).toMatchObject([
    { state: "dead", lastError: "the project has no [alerts.ops]" },
  ]);
});

function failing(method: keyof AlertStore, times: number): AlertStore {
  let left = times;
  return new Proxy(tempStore().tables(createAlertStore), {
    get: (store, name, receiver): unknown => {
      if (name === method && left-- > 0) throw new Error("disk I/O error");
      return Reflect.get(store, name, receiver);
    },
  });
}

test("a store that fails is asked again to record an attempt, which is not repeated", async () => {
  const world = senderWorld({ store: failing("attempted", 2) });
  await world.add("1@ops");
  await world.settled();
  expect(world.problems).toHaveLength(1);
  world.until(30);
  await world.settled();
  world.until(60);
  await world.recorded(1);
  expect(world.attempts).toHaveLength(1);
  expect(world.store.list(all)).toMatchObject([{ state: "sent" }]);
});

test.each(["due", "waitingTargets"] as const)(
  "a store that fails is asked again for %s",
  async (method) => {
    const world = senderWorld({ store: failing(method, 1) });
    await world.add("1@ops");
    await world.settled();
    expect(world.attempts).toEqual([]);
    expect(world.problems).toEqual([expect.stringContaining("disk I/O error") as string]);
    world.until(30);
    await world.recorded(1);
    expect(world.attempts).toHaveLength(1);
  },
);

test("closing waits for attempts on their way, and starts no others", async () => {
  const { promise, resolve } = Promise.withResolvers<TargetAnswer>();
  const world = senderWorld({ send: () => promise });
  await world.add("1@ops", "2@ops", "3@dev");
  await world.settled();
  let isClosed = false;
  const closed = world.sender.close().then(() => (isClosed = true));
  await world.settled();
  expect(isClosed).toBe(false);
  resolve(accepted);
  await closed;
  expect(world.attempts.map(({ id }) => id).sort()).toEqual(["1@ops", "3@dev"]);
  expect(world.counts()).toEqual({ waiting: 1, dead: 0 });
  world.sender.wake();
  await world.settled();
  expect(world.attempts).toHaveLength(2);
});

test("closing is immediate while nothing is sent", async () => {
  const world = senderWorld({ send: () => Promise.resolve(failed()) });
  await world.add("1@ops");
  await world.recorded(1);
  await world.sender.close();
  expect(world.store.nextAt("ops")).toBe(start + 5_000);
});
