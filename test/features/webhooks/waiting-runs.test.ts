import { TestReceiver } from "./test-receiver.ts";

const waitingRun = {
  agent: "dev",
  instanceId: "dev-1",
  key: "k",
  answer: { trigger: "it" },
  waitedMs: 5,
  isWaiting: () => true,
};

function receiverWith(...agents: string[]): TestReceiver {
  const receiver = new TestReceiver(...agents);
  receiver.waitingRuns = [waitingRun];
  return receiver;
}

test("a delivery that a run waits for becomes that run's work instead of a new run of its agent; other agents still start", async () => {
  const receiver = receiverWith("dev", "ops");
  const answer = await receiver.deliver();
  expect(answer).toMatchObject({ body: { matched: [{ agent: "ops" }, { agent: "dev" }] } });
  expect(receiver.dispatched.map(({ agent }) => agent)).toEqual(["ops"]);
  expect(receiver.accepted).toMatchObject([
    { taken: [{ item: { agent: "dev" }, by: waitingRun }] },
  ]);
  expect(receiver.settled).toEqual([true]);
});

test("a delivery that a run waits for is not a dead letter if no filter lets it through", async () => {
  const receiver = receiverWith();
  await receiver.deliver();
  const receipt = { matched: ["dev"], reason: null };
  expect(receiver.accepted).toMatchObject([{ receipt, items: [], deadLetters: [] }]);
  expect(receiver.counted).toMatchObject([{ result: "accepted" }]);
});

test("a delivery that a run waits for leaves the run waiting if it is a duplicate or can't be stored", async () => {
  const receiver = receiverWith();
  await receiver.deliver();
  await receiver.deliver();
  receiver.storeFails = true;
  await receiver.deliver({ id: "d2" });
  expect(receiver.settled).toEqual([true, false, false]);
});

test("a delivery that a run waits for reaches the run only if it is verified", async () => {
  const receiver = receiverWith();
  await receiver.deliver({ secret: "wrong" });
  expect(receiver.settled).toEqual([]);
});
