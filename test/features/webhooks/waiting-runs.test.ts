import { TestReceiver } from "./test-receiver.ts";

const waitingRun = {
  agent: "dev",
  instanceId: "dev-1",
  key: "k",
  answer: { trigger: "it" },
  waitedMs: 5,
  isWaiting: () => true,
};

async function receiverWith(...agents: string[]): Promise<TestReceiver> {
  const receiver = new TestReceiver(...agents);
  const condition = { kind: "webhook" } as const;
  await receiver.store.waits.add({ ...waitingRun, condition, since: 1, until: 9 });
  receiver.waitingRuns = [waitingRun];
  return receiver;
}

test("a webhook delivery that a run waits for is not a dead letter if no agent's filter matches it", async () => {
  const receiver = await receiverWith();
  await receiver.deliver();
  const receipt = { matched: ["dev"], reason: null };
  expect(receiver.accepted).toMatchObject([{ receipt, items: [], deadLetters: [] }]);
  expect(receiver.counted).toMatchObject([{ result: "accepted" }]);
});

test("a run keeps waiting for a webhook delivery if the one that arrives is a duplicate or can't be stored", async () => {
  const receiver = await receiverWith();
  await receiver.deliver();
  await receiver.deliver();
  receiver.storeFails = true;
  await receiver.deliver({ id: "d2" });
  expect(receiver.settled).toEqual([true, false, false]);
});
