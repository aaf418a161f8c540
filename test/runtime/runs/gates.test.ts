import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentConfig, Approval } from "../../../streams/agent-config.ts";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, otherSecret, problemOf, worldSecret, type World } from "./world.ts";
import { answer, instancesOf, openedQuestion } from "./of-world.ts";

const none: Approval = { hosts: [], over: null, agents: [], tools: [] };
const gated = (approve: Partial<Approval>, more: Partial<AgentConfig> = {}) =>
  anAgent("a", { approve: { ...none, ...approve }, ...more });
const stripe = gated({ hosts: ["api.stripe.com"] });

async function started(a: AgentConfig, { scale = null }: { scale?: number | null } = {}) {
  const agents = [a, anAgent("b"), anAgent("c")];
  const world = createWorld({ agents, scale });
  await world.start();
  return { world, agents, run: await world.run("a") };
}

const denied = "a person denied it for the rest of this run";
const asked = (world: World) => world.questions.list({ limit: 100 }).length;
const outcome = (world: World, instanceId: string) =>
  world.history().find((entry) => entry.instanceId === instanceId)?.outcome;

test("a run that reaches a held host releases its slot and is frozen until a person allows it", async () => {
  const { world, run } = await started(stripe, { scale: 1 });
  const reached = world.reach(run, "api.stripe.com");
  const { prompt, form, kind, subject } = await openedQuestion(world);
  expect({ kind, subject, prompt, form }).toEqual({
    kind: "host",
    subject: "api.stripe.com",
    prompt: "a wants to reach api.stripe.com",
    form: { kind: "choice", choices: ["once", "run", "always", "deny"] },
  });
  world.end(await world.run("b"));
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  await answer(world, "run");
  expect(await reached).toBeNull();
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);
  expect(await world.reach(run, "api.stripe.com")).toBeNull();
  expect(asked(world)).toBe(1);
});

test("a run that reaches a held host is asked about again after each request that was allowed once", async () => {
  const { world, run } = await started(stripe);
  const both = [world.reach(run, "api.stripe.com"), world.reach(run, "api.stripe.com")];
  await answer(world, "once");
  await expect.poll(() => asked(world)).toBe(2);
  await answer(world, "deny");
  expect(await Promise.all(both)).toEqual(expect.arrayContaining([null, denied]));
  expect(await world.reach(run, "api.stripe.com")).toBe(denied);
  expect(asked(world)).toBe(2);
});

test("a run that reaches a held host does not use up an approval by a request that hung up", async () => {
  const { world, run } = await started(stripe);
  const gone = new AbortController();
  const first = world.reach(run, "api.stripe.com", gone.signal);
  await openedQuestion(world);
  gone.abort(new Error("hung up"));
  await expect(first).rejects.toThrow("hung up");
  await answer(world, "once");
  expect(await world.reach(run, "api.stripe.com")).toBeNull();
  expect(asked(world)).toBe(1);
});

test("a run that reaches a held host ends as unanswered if its question ran out while no scheduler was up", async () => {
  const { world, agents, run } = await started(stripe);
  void world.reach(run, "api.stripe.com").catch(() => undefined);
  const { until, at, fallback } = await openedQuestion(world);
  expect([until - at, fallback]).toEqual([86_400_000, null]);
  world.crash();
  const db = new DatabaseSync(join(world.dir, ".al", "state.db"));
  db.exec("UPDATE questions SET until = at");
  db.close();
  const again = createWorld({ agents }, world.dir, [run]);
  await again.start();
  await expect.poll(() => outcome(again, run)).toBe("unanswered");
});

test.each([
  ["before", "after"],
  ["after", "before"],
])(
  "a run that reaches a held host finds its question after a crash of the scheduler, answered %s it",
  async (when) => {
    const { world, agents, run } = await started(stripe);
    void world.reach(run, "api.stripe.com").catch(() => undefined);
    await openedQuestion(world);
    if (when === "before") await answer(world, "once");
    world.crash();
    const again = createWorld({ agents }, world.dir, [run]);
    await again.start();
    const reached = again.reach(run, "api.stripe.com");
    if (when === "after") await answer(again, "once");
    expect(await reached).toBeNull();
    expect(asked(again)).toBe(1);
  },
);

test("a run that reaches a held host is denied without a question once the run has asked a hundred", async () => {
  const { world, run } = await started(gated({ hosts: ["*.example.com"], over: 5 }));
  const question = { question: "?", type: "boolean" } as const;
  for (let nth = 0; nth < 99; nth += 1) {
    void world.ask(run, "ask", question).catch(() => undefined);
  }
  await expect.poll(() => world.questions.ofRun(run)).toHaveLength(99);
  const last = world.reach(run, "100.example.com");
  await expect.poll(() => world.questions.ofRun(run)).toHaveLength(100);
  const why = "this run has asked 100 questions already";
  expect(await world.reach(run, "101.example.com")).toBe(why);
  const { over } = world.requests.gates;
  expect(await over(world.runs.get(run), 5, new AbortController().signal)).toContain(why);
  // One that is asked already can still be answered.
  const again = world.reach(run, "100.example.com");
  await answer(world, "run");
  expect([await last, await again]).toEqual([null, null]);
});

test("a run that reaches a held host is not asked about a host that no gate names", async () => {
  const wild = gated(
    { hosts: ["*.example.com", "db.test:5432"] },
    { network: { allow: ["free.example.com", "*.example.com"] } },
  );
  const { world, run } = await started(wild);
  expect(await world.reach(run, "db.test")).toBeNull();
  expect(await world.reach(run, "free.example.com")).toBeNull();
  void world.reach(run, "api.example.com").catch(() => undefined);
  expect(await openedQuestion(world)).toMatchObject({ subject: "api.example.com" });
});

const call = (world: World, from: string, agent: string) =>
  world.ask(from, "call", { agent, context: "deploy 1.4" });

test("a run that makes a held call makes it once a person allows it", async () => {
  const { world, run } = await started(gated({ agents: ["b"] }), { scale: 2 });
  const made = call(world, run, "b");
  expect((await openedQuestion(world)).prompt).toBe("a wants to call b: deploy 1.4");
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  expect(instancesOf(world, "b")).toEqual([]);
  await answer(world, "once");
  expect(await made).toMatchObject({ ok: true, state: "running" });
  expect(await call(world, run, "c")).toMatchObject({ ok: true });
  void call(world, run, "b").catch(() => undefined);
  await expect.poll(() => asked(world)).toBe(2);
});

test.each([
  ["another context", "deploy 1.4", "delete all"],
  ["another secret", `key ${worldSecret}`, `key ${otherSecret}`],
  ["another title of the terminal", "hi\u001b]0;drop all\u0007", "hi\u001b]0;drop none\u0007"],
  ["another end of a long one", `${"x".repeat(2_000)}1`, `${"x".repeat(2_000)}2`],
])(
  "a run that makes a held call is asked again about %s than a person was shown",
  async (_what, shown, other) => {
    const { world, run } = await started(gated({ agents: ["b"] }));
    const gone = new AbortController();
    const signal = { signal: gone.signal };
    const first = world.ask(run, "call", { agent: "b", context: shown }, signal);
    first.catch(() => undefined);
    const { prompt } = await openedQuestion(world);
    const second = world.ask(run, "call", { agent: "b", context: other });
    gone.abort(new Error("hung up"));
    await answer(world, "once");
    await expect.poll(() => asked(world)).toBe(2);
    expect((await openedQuestion(world)).prompt).not.toBe(prompt);
    expect(instancesOf(world, "b")).toEqual([]);
    await answer(world, "once");
    expect(await second).toMatchObject({ ok: true });
  },
);

test("a run that makes a held call shows no part of a secret at which its context is cut", async () => {
  const { world, run } = await started(gated({ agents: ["b"] }));
  const context = "x".repeat(1_995) + worldSecret;
  void world.ask(run, "call", { agent: "b", context }).catch(() => undefined);
  expect((await openedQuestion(world)).prompt).not.toContain(worldSecret.slice(0, 5));
});

test("a run that makes a held call is told that a person denied it", async () => {
  const { world, run } = await started(gated({ agents: ["*"] }));
  const problem = problemOf(call(world, run, "c"));
  expect((await openedQuestion(world)).form).toMatchObject({ choices: ["once", "run", "deny"] });
  await answer(world, "deny");
  expect(await problem).toMatchObject({ error: "not_approved" });
  expect((await problem).detail).toContain("a person denied");
  expect(instancesOf(world, "c")).toEqual([]);
});
