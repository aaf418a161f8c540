import { describe, expect, it } from "vitest";
import { Desk, github } from "./desk.ts";

const waitingRun = {
  agent: "dev",
  instanceId: "dev-1",
  key: "k",
  answer: { trigger: "it" },
  waitedMs: 5,
  isWaiting: () => true,
};

function deskWith(...agents: string[]): Desk {
  const desk = new Desk();
  desk.waitingRuns = [waitingRun];
  for (const agent of agents) desk.listen(agent);
  return desk;
}

describe("a delivery that a run waits for", () => {
  it("is that run's work instead of a new run of its agent, and beside those of others", async () => {
    const desk = deskWith("dev", "ops");
    const answer = await desk.receive(github("hush"));
    expect(answer).toMatchObject({ body: { matched: [{ agent: "ops" }, { agent: "dev" }] } });
    expect(desk.dispatched.map(({ agent }) => agent)).toEqual(["ops"]);
    expect(desk.accepted).toMatchObject([{ taken: [{ item: { agent: "dev" }, by: waitingRun }] }]);
    expect(desk.settled).toEqual([true]);
  });

  it("is no dead letter when no filter lets it through", async () => {
    const desk = deskWith();
    await desk.receive(github("hush"));
    const receipt = { matched: ["dev"], reason: null };
    expect(desk.accepted).toMatchObject([{ receipt, items: [], deadLetters: [] }]);
    expect(desk.counted).toMatchObject([{ result: "accepted" }]);
  });

  it("goes on waiting when the delivery is a duplicate or can't be stored", async () => {
    const desk = deskWith();
    await desk.receive(github("hush"));
    await desk.receive(github("hush"));
    desk.storeFails = true;
    await desk.receive(github("hush", { id: "d2" }));
    expect(desk.settled).toEqual([true, false, false]);
  });

  it("is offered only what was believed", async () => {
    const desk = deskWith();
    await desk.receive(github("wrong"));
    expect(desk.settled).toEqual([]);
  });
});
