import { createAlertStore, type AlertStore } from "../../../src/features/alerts/alert-store.ts";
import type { TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { pause } from "../../helpers/pause.ts";
import { accepted, failed, senderWorld, start } from "./sender-world.ts";

const all = { limit: 100 };

test("the alert sender attempts a delivery eight times, always with the same id, and then gives it up", async () => {
  const world = senderWorld({ send: () => Promise.resolve(failed()) });
  await world.add("1@ops");
  const times = [0, 5, 305, 2105, 9305, 27_305, 63_305, 99_305];
  for (const [index, at] of times.entries()) {
    world.until(Math.max(0, at - 1));
    await world.settled();
    world.until(at);
    await world.recorded(index + 1);
  }
  expect(world.store.list(all)).toMatchObject([
    { state: "dead", attempts: 8, lastError: "it answered 500", endedAt: start + 99_305_000 },
  ]);
  expect(world.problems).toEqual([
    expect.stringContaining("not delivered to ops: it answered 500") as string,
  ]);
  world.until(1_000_000);
  await world.settled();
  expect(world.attempts).toEqual(times.map((at) => ({ id: "1@ops", target: "ops", at })));
});

test("the alert sender continues when the clock is set back by years, also for a target in backoff", async () => {
  const world = senderWorld({ answers: [failed(3_600_000), failed(), failed()] });
  await world.deliver("1@ops", "2@dev");
  world.until(31);
  await world.recorded(3);
  // Both targets sleep: only then is the clock set back.
  await world.settled();
  world.setBack(9_000 * 86_400);
  world.until(62);
  await world.recorded(5);
  expect(world.counts()).toEqual({ waiting: 0, dead: 0 });
});

test("the alert sender stops even if the store accepts no writes", async () => {
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

test("the alert sender delays attempts at random by up to a tenth", async () => {
  const world = senderWorld({ answers: [failed()], random: () => 1 });
  await world.deliver("1@ops");
  expect(world.store.nextAt("ops")).toBe(start + 5_500);
});

test("the alert sender sends one alert at a time to a target, the oldest first", async () => {
  let inFlight = 0;
  let most = 0;
  const send = async (): Promise<TargetAnswer> => {
    most = Math.max(most, ++inFlight);
    await pause(5, "other alerts may overtake this one");
    inFlight--;
    return accepted;
  };
  const world = senderWorld({ send });
  const names = ["1@ops", "2@ops", "3@ops", "4@ops"];
  await world.add(...names);
  world.sender.wake();
  await world.recorded(4);
  expect(most).toBe(1);
  expect(world.ids()).toEqual(names);
  expect(world.counts()).toEqual({ waiting: 0, dead: 0 });
});

test("the alert sender pauses all deliveries to a target for as long as the target asks", async () => {
  const answers = [failed(60_000)];
  const world = senderWorld({
    send: (_message, { name }) =>
      Promise.resolve((name === "ops" ? answers.shift() : undefined) ?? accepted),
  });
  await world.add("1@ops", "2@ops", "3@dev");
  await world.recorded(2);
  world.until(59);
  await world.settled();
  expect(world.ids().toSorted()).toEqual(["1@ops", "3@dev"]);
  world.until(60);
  await world.recorded(4);
  expect(world.counts()).toEqual({ waiting: 0, dead: 0 });
});

const gone = { type: "gone", error: "it answered 410" } as const;

test("an alert target that answers that it is gone is switched off, and later alerts are not sent to it", async () => {
  const world = senderWorld({ answers: [gone] });
  await world.deliver("1@ops", "2@ops");
  await world.deliver("3@ops");
  expect(world.ids()).toEqual(["1@ops"]);
  expect(world.store.switchedOff().get("ops")).toEqual({ at: start, reason: "it answered 410" });
  const lastError = "switched off: it answered 410";
  expect(world.store.list(all)).toMatchObject([
    { id: "3@ops", state: "dead", lastError },
    { id: "2@ops", state: "dead", lastError },
    { id: "1@ops", state: "dead" },
  ]);
  expect(world.problems).toEqual([
    'ops is switched off: it answered 410; "al alerts test ops" switches it on again',
  ]);
});

test("alerts to a target that was removed from the project are given up", async () => {
  const world = senderWorld({ targets: () => [] });
  await world.deliver("1@ops");
  expect(world.attempts).toEqual([]);
  expect(world.store.list(all)).toMatchObject([
    { state: "dead", lastError: "the project has no [alerts.ops]" },
  ]);
});

test.each([
  ["attempted", 2],
  ["due", 1],
  ["waitingTargets", 1],
] as const)(
  "the alert sender repeats a failed call of the store's method %s, and sends the alert once",
  async (method, times) => {
    let left = times;
    const store = new Proxy(tempStore().tables(createAlertStore), {
      get: (of, name, receiver): unknown => {
        if (name === method && left-- > 0) throw new Error("disk I/O error");
        return Reflect.get(of, name, receiver);
      },
    });
    const world = senderWorld({ store });
    await world.add("1@ops");
    await world.settled();
    expect(world.problems).toEqual([expect.stringContaining("disk I/O error") as string]);
    world.until(30);
    await world.settled();
    world.until(60);
    await world.recorded(1);
    expect(world.ids()).toEqual(["1@ops"]);
    expect(store.list(all)).toMatchObject([{ state: "sent" }]);
  },
);

test("closing the alert sender waits for running attempts and starts no others", async () => {
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
  world.sender.wake();
  await world.settled();
  expect(world.ids().toSorted()).toEqual(["1@ops", "3@dev"]);
  expect(world.counts()).toEqual({ waiting: 1, dead: 0 });
});
