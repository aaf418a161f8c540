import type { AgentConfig, Approval } from "../../../streams/agent-config.ts";
import { anAgent } from "../../helpers/agents.ts";
import { otherSecret, worldSecret, type World } from "./world.ts";
import {
  answer,
  approving,
  asked,
  entryOf,
  expectRefusal,
  expectThawed,
  hangingUp,
  instancesOf,
  openedQuestion,
  restarted,
  startedWorld,
  untilFrozen,
  changeStore,
  denied,
} from "./of-world.ts";

/** A run of an agent with these gates. */
const gated = (approve: Partial<Approval>, more: Partial<AgentConfig> = {}) =>
  startedWorld({
    agents: [anAgent("a", { ...approving(approve), ...more }), anAgent("b"), anAgent("c")],
  });
const host = "api.stripe.com";
const stripe = { hosts: [host] };

describe("a run that requests a host that needs approval", () => {
  test("is frozen until a person allows it", async () => {
    const { world, run } = await gated(stripe);
    const reached = world.reach(run, host);
    const { prompt, form, kind, subject } = await openedQuestion(world);
    expect({ kind, subject, prompt, form }).toEqual({
      kind: "host",
      subject: host,
      prompt: `a wants to reach ${host}`,
      form: { kind: "choice", choices: ["once", "run", "always", "deny"] },
    });
    await untilFrozen(world, run);
    await answer(world, "run");
    expect(await reached).toBeNull();
    expectThawed(world, run);
    expect(await world.reach(run, host)).toBeNull();
    expect(asked(world)).toBe(1);
  });

  test("asks a person again after each request that was allowed once", async () => {
    const { world, run } = await gated(stripe);
    const both = [world.reach(run, host), world.reach(run, host)];
    await answer(world, "once");
    await expect.poll(() => asked(world)).toBe(2);
    await answer(world, "deny");
    expect(await Promise.all(both)).toEqual(expect.arrayContaining([null, denied]));
    expect(await world.reach(run, host)).toBe(denied);
    expect(asked(world)).toBe(2);
  });

  test("uses the approval of a disconnected request for the next request", async () => {
    const { world, run } = await gated(stripe);
    const { signal, hangUp } = hangingUp();
    const first = world.reach(run, host, signal);
    await openedQuestion(world);
    hangUp();
    await expect(first).rejects.toThrow("hung up");
    await answer(world, "once");
    expect(await world.reach(run, host)).toBeNull();
    expect(asked(world)).toBe(1);
  });

  test("ends as unanswered if its question expired while the scheduler was down", async () => {
    const { world, run } = await gated(stripe);
    void world.reach(run, host);
    const { until, at, fallback } = await openedQuestion(world);
    expect([until - at, fallback]).toEqual([86_400_000, null]);
    world.crash();
    changeStore(world, "UPDATE questions SET until = at");
    const again = await restarted(world, [run]);
    await expect.poll(() => entryOf(again, run)?.outcome).toBe("unanswered");
  });

  test.each(["before", "after"])(
    "gets the answer that was given %s a crash of the scheduler",
    async (when) => {
      const { world, run } = await gated(stripe);
      void world.reach(run, host);
      await openedQuestion(world);
      if (when === "before") await answer(world, "once");
      const again = await restarted(world, [run]);
      const reached = again.reach(run, host);
      if (when === "after") await answer(again, "once");
      expect(await reached).toBeNull();
      expect(asked(again)).toBe(1);
    },
  );

  test("is denied without a question once it has asked 100 questions", async () => {
    const { world, run } = await gated({ hosts: ["*.example.com"], over: 5 });
    const question = { question: "?", type: "boolean" } as const;
    for (let nth = 0; nth < 99; nth += 1) void world.ask(run, "ask", question);
    await expect.poll(() => asked(world)).toBe(99);
    const last = world.reach(run, "100.example.com");
    await expect.poll(() => asked(world)).toBe(100);
    const why = "this run has asked 100 questions already";
    expect(await world.reach(run, "101.example.com")).toBe(why);
    const { over } = world.requests.gates;
    expect(await over(world.runs.get(run), 5, new AbortController().signal)).toContain(why);
    // One that is asked already can still be answered.
    const again = world.reach(run, "100.example.com");
    await answer(world, "run");
    expect([await last, await again]).toEqual([null, null]);
  });
});

const call = (world: World, from: string, agent: string, context = "deploy 1.4") =>
  world.ask(from, "call", { agent, context });

describe("a run whose call of an agent needs approval", () => {
  test("makes the call once a person allows it", async () => {
    const { world, run } = await gated({ agents: ["b"] });
    const made = call(world, run, "b");
    expect((await openedQuestion(world)).prompt).toBe("a wants to call b: deploy 1.4");
    await untilFrozen(world, run);
    expect(instancesOf(world, "b")).toEqual([]);
    await answer(world, "once");
    expect(await made).toMatchObject({ ok: true, state: "running" });
    expect(await call(world, run, "c")).toMatchObject({ ok: true });
    void call(world, run, "b");
    await expect.poll(() => asked(world)).toBe(2);
  });

  test.each([
    ["another context", "deploy 1.4", "delete all"],
    ["another secret", `key ${worldSecret}`, `key ${otherSecret}`],
  ])("asks again if the call has %s than the one shown", async (_what, shown, other) => {
    const { world, run } = await gated({ agents: ["b"] });
    const { signal, hangUp } = hangingUp();
    void world.ask(run, "call", { agent: "b", context: shown }, { signal });
    const { prompt } = await openedQuestion(world);
    const second = call(world, run, "b", other);
    hangUp();
    await answer(world, "once");
    await expect.poll(() => asked(world)).toBe(2);
    expect((await openedQuestion(world)).prompt).not.toBe(prompt);
    expect(instancesOf(world, "b")).toEqual([]);
    await answer(world, "once");
    expect(await second).toMatchObject({ ok: true });
  });

  test("gets a rejection if a person denies it", async () => {
    const { world, run } = await gated({ agents: ["*"] });
    const made = call(world, run, "c");
    expect((await answer(world, "deny")).form).toMatchObject({ choices: ["once", "run", "deny"] });
    const detail = expect.stringContaining("a person denied") as string;
    await expectRefusal(made, "not_approved", { detail });
    expect(instancesOf(world, "c")).toEqual([]);
  });
});
