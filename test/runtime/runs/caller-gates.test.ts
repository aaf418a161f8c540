import type { AgentConfig } from "../../../streams/agent-config.ts";
import { anAgent } from "../../helpers/agents.ts";
import {
  answer,
  approving,
  asked,
  ended,
  latest,
  openedQuestion,
  restarted,
  startedWorld,
  changeStore,
  denied,
} from "./of-world.ts";
import type { World } from "./world.ts";

const host = "api.stripe.com";
const stripe = anAgent("a", approving({ hosts: [host] }));

async function started(a: AgentConfig) {
  const agents = [a, anAgent("b"), anAgent("c")];
  return { agents, ...(await startedWorld({ agents })) };
}

/** The run of an agent that a run called. */
async function called(world: World, from: string, agent: string): Promise<string> {
  await world.ask(from, "call", { agent, context: "" });
  return latest(world, agent);
}

/** A run that called b. */
async function calling(a: AgentConfig) {
  const all = await started(a);
  return { ...all, b: await called(all.world, all.run, "b") };
}

const notForGood = { kind: "choice", choices: ["once", "run", "deny"] };

test("a called run needs the approvals that its callers' configs require, and can't be allowed permanently", async () => {
  const { world, b } = await calling(stripe);
  const c = await called(world, b, "c");
  world.end(b);
  const reached = world.reach(c, host);
  expect(await answer(world, "deny")).toMatchObject({
    prompt: `c wants to reach ${host}`,
    gates: ["a"],
    form: notForGood,
  });
  expect(await reached).toBe(denied);
  world.end(c);
  expect(await world.reach(await world.run("c"), host)).toBeNull();
});

test("a called run asks again about an allowed host if its caller's config starts to require approval", async () => {
  const { world, agents, run } = await started(anAgent("a"));
  agents[1] = { ...stripe, name: "b" };
  const b = await called(world, run, "b");
  for (const gates of [["b"], ["b", "a"]]) {
    const reached = world.reach(b, host);
    expect((await answer(world, "run")).gates).toEqual(gates);
    expect(await reached).toBeNull();
    agents[0] = stripe;
  }
  expect(asked(world)).toBe(2);
});

test.each([
  ["needs the approvals that its caller's config required at the start", "", host],
  [
    "needs approval for everything if its callers' gates are not stored",
    "DELETE FROM run_contents",
    "free.test",
  ],
])("after a restart with a broken config, a called run %s", async (_how, sql, to) => {
  const { world, agents, run, b } = await calling(stripe);
  world.crash();
  changeStore(world, sql);
  const again = await restarted(world, [run, b], { agents: agents.slice(1) });
  void again.reach(b, to);
  expect((await openedQuestion(again)).gates).toEqual(["a"]);
});

/** The run that continues the session of an ended one. */
const continued = async (world: World, agent: string, instanceId: string): Promise<string> => {
  await ended(world, instanceId);
  const continues = { instanceId, endedAt: 0 };
  return world.run(agent, { kind: "manual", prompt: "go on", continues });
};

test("a run that continues a called run's session needs the approvals that the first run's callers require", async () => {
  const { world, run, b } = await calling(stripe);
  const third = await continued(world, "b", await continued(world, "b", b));
  const c = await called(world, third, "c");
  const again = await restarted(world, [run, third, c]);
  for (const instance of [third, c]) {
    const reached = again.reach(instance, host);
    expect(await answer(again, "deny")).toMatchObject({ gates: ["a"], form: notForGood });
    expect(await reached).toBe(denied);
  }
});

test("a run that continues a called run's session needs approval for everything if that run's callers are not stored", async () => {
  const { world, run, b } = await calling(anAgent("a"));
  await ended(world, run);
  changeStore(world, `DELETE FROM triggers WHERE instance_id = '${run}'`);
  void world.reach(await continued(world, "b", b), "free.test");
  expect((await openedQuestion(world)).gates).toEqual(["a"]);
});

test("a run that received a call while it waited needs the approvals that the caller's config requires", async () => {
  const { world, run } = await started(stripe);
  const b = await world.run("b");
  const took = world.ask(b, "wait", { kind: "agent-call" });
  await expect.poll(() => world.store.waits.all()).toHaveLength(1);
  await world.ask(run, "call", { agent: "b", context: "" });
  await took;
  void world.reach(b, host);
  expect(await openedQuestion(world)).toMatchObject({ instanceId: b });
});
