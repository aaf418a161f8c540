import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { anAgent } from "../../helpers/agents.ts";
import { answer, instancesOf, openedQuestion } from "./of-world.ts";
import { createWorld, type World } from "./world.ts";

const approve = { hosts: ["api.stripe.com"], over: null, agents: [], tools: [] };
const stripe = anAgent("a", { approve });

async function started(a: AgentConfig) {
  const agents = [a, anAgent("b"), anAgent("c")];
  const world = createWorld({ agents });
  await world.start();
  return { world, agents, run: await world.run("a") };
}

const denied = "a person denied it for the rest of this run";
const asked = (world: World) => world.questions.list({ limit: 100 }).length;

test("a run that a gated run called has the gates of all its callers, and can't lift them for good", async () => {
  const { world, run } = await started(stripe);
  await world.ask(run, "call", { agent: "b", context: "" });
  const [b = ""] = instancesOf(world, "b");
  await world.ask(b, "call", { agent: "c", context: "" });
  world.end(b);
  const [c = ""] = instancesOf(world, "c");
  const reached = world.reach(c, "api.stripe.com");
  const { prompt, form, gates } = await openedQuestion(world);
  expect(prompt).toBe("c wants to reach api.stripe.com");
  expect(gates).toEqual(["a"]);
  expect(form).toMatchObject({ choices: ["once", "run", "deny"] });
  await answer(world, "deny");
  expect(await reached).toBe(denied);
  world.end(c);
  expect(await world.reach(await world.run("c"), "api.stripe.com")).toBeNull();
});

test("a run that a gated run called asks again about an allowed host that a gate of its caller has held since", async () => {
  const { world, agents, run } = await started(anAgent("a"));
  agents[1] = { ...stripe, name: "b" };
  await world.ask(run, "call", { agent: "b", context: "" });
  const [b = ""] = instancesOf(world, "b");
  const reached = world.reach(b, "api.stripe.com");
  expect((await openedQuestion(world)).gates).toEqual(["b"]);
  await answer(world, "run");
  expect(await reached).toBeNull();
  agents[0] = stripe;
  const again = world.reach(b, "api.stripe.com");
  expect((await openedQuestion(world)).gates).toEqual(["b", "a"]);
  await answer(world, "run");
  expect(await again).toBeNull();
  expect(asked(world)).toBe(2);
});

test.each([
  ["as its caller started with them", "", "api.stripe.com"],
  ["as holding everything, if they are not stored", "DELETE FROM run_contents", "free.test"],
])(
  "a run that a gated run called keeps them after a restart with a broken config, %s",
  async (_how, sql, host) => {
    const { world, agents, run } = await started(stripe);
    await world.ask(run, "call", { agent: "b", context: "" });
    const [b = ""] = instancesOf(world, "b");
    world.crash();
    const db = new DatabaseSync(join(world.dir, ".al", "state.db"));
    db.exec(sql);
    db.close();
    const again = createWorld({ agents: agents.slice(1) }, world.dir, [run, b]);
    await again.start();
    void again.reach(b, host).catch(() => undefined);
    expect((await openedQuestion(again)).gates).toEqual(["a"]);
  },
);

/** The run that continues the session of an ended one. */
const continued = async (world: World, agent: string, instanceId: string): Promise<string> => {
  world.end(instanceId);
  await expect.poll(() => world.isLive(instanceId)).toBe(false);
  const continues = { instanceId, endedAt: 0 };
  return world.run(agent, { kind: "manual", prompt: "go on", continues });
};

test("a run that continues the session of one that a gated run called has the gates of its callers", async () => {
  const { world, agents, run } = await started(stripe);
  await world.ask(run, "call", { agent: "b", context: "" });
  const [b = ""] = instancesOf(world, "b");
  const second = await continued(world, "b", b);
  const third = await continued(world, "b", second);
  await world.ask(third, "call", { agent: "c", context: "" });
  world.crash();
  const [c = ""] = instancesOf(world, "c");
  const again = createWorld({ agents }, world.dir, [run, third, c]);
  await again.start();
  for (const instance of [third, c]) {
    const reached = again.reach(instance, "api.stripe.com");
    const { gates, form } = await openedQuestion(again);
    expect([gates, form]).toEqual([["a"], { kind: "choice", choices: ["once", "run", "deny"] }]);
    await answer(again, "deny");
    expect(await reached).toBe(denied);
  }
});

test("a run that continues the session of a called one is held in all if its callers are no longer stored", async () => {
  const { world, run } = await started(anAgent("a"));
  await world.ask(run, "call", { agent: "b", context: "" });
  const [b = ""] = instancesOf(world, "b");
  world.end(run);
  await expect.poll(() => world.isLive(run)).toBe(false);
  const db = new DatabaseSync(join(world.dir, ".al", "state.db"));
  db.prepare("DELETE FROM triggers WHERE instance_id = ?").run(run);
  db.close();
  void world.reach(await continued(world, "b", b), "free.test").catch(() => undefined);
  expect((await openedQuestion(world)).gates).toEqual(["a"]);
});

test("a run that a gated run called has them, too, when it took the call while it waited", async () => {
  const { world, run } = await started(stripe);
  const b = await world.run("b");
  const took = world.ask(b, "wait", { kind: "agent-call" });
  await expect.poll(() => world.store.waits.all()).toHaveLength(1);
  await world.ask(run, "call", { agent: "b", context: "" });
  await took;
  void world.reach(b, "api.stripe.com").catch(() => undefined);
  expect(await openedQuestion(world)).toMatchObject({ instanceId: b });
});
