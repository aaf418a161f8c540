import { createAlertStore, type AlertStore } from "../../../src/features/alerts/alert-store.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { deliveryOf, failed, senderWorld, start } from "./sender-world.ts";

const all = { limit: 100 };

const ids = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}@ops`);

/** A world in which alerts came one after the other. */
async function stormy(count: number, options?: Parameters<typeof senderWorld>[0]) {
  const world = senderWorld(options);
  for (const id of ids(count)) {
    await world.add(id);
    await world.settled();
  }
  return world;
}

test("many alerts one after the other are sent as five alerts, and then as one digest a minute", async () => {
  const world = await stormy(5);
  expect(world.attempts).toHaveLength(5);
  for (let second = 1; second <= 130; second += 1) {
    world.until(second);
    await world.add(`storm-${second}@ops`);
  }
  await world.settled();
  expect(world.attempts).toHaveLength(7);
  const sent = world.store.list({ ...all, state: "sent" });
  expect(sent.filter(({ alert }) => alert.topic === "digest")).toHaveLength(2);
});

test("a storm of new alerts does not delay retried alerts", async () => {
  const world = await stormy(6, { answers: [failed()] });
  world.until(10);
  await world.recorded(6);
  world.until(65);
  await world.recorded(7);
  expect(world.ids().slice(5)).toEqual(["1@ops", "6@ops"]);
});

test("the digest of a storm of alerts excludes an alert that an earlier scheduler may have sent", async () => {
  const store = tempStore().tables(createAlertStore);
  const deliveries = ids(8).map((id) => ({ ...deliveryOf(id), nextAt: start - 1 }));
  await store.record({ states: [], deliveries });
  const world = senderWorld({ store });
  world.sender.wake();
  await world.recorded(2);
  expect(world.ids()[0]).toBe("1@ops");
  expect(store.list(all)[0]?.alert).toMatchObject({ topic: "digest", count: 7 });
});

test("a storm of alerts is kept until its digest is stored", async () => {
  const store: AlertStore = {
    ...tempStore().tables(createAlertStore),
    replace: () => Promise.reject(new Error("full")),
  };
  const world = senderWorld({ store });
  await world.add(...ids(7));
  await world.settled();
  expect(world.attempts).toEqual([]);
  expect(world.counts()).toEqual({ waiting: 7, dead: 0 });
  expect(world.problems).toEqual(["alerts to ops can't be sent: full"]);
});
