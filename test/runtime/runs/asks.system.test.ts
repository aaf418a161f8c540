import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Person } from "../../../src/foundation/contracts/questions.ts";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, problemOf, type World } from "./world.ts";
import { instancesOf, openedQuestion } from "./of-world.ts";

const ada: Person = { via: "slack", name: "Ada", from: null };
const deploy = { question: "Deploy 1.4?", choices: ["yes", "no"] };

async function started(timeoutSeconds = 1) {
  const agents = [anAgent("a", { timeoutSeconds }), anAgent("b")];
  const world = createWorld({ agents, scale: 1 });
  await world.start();
  return { world, agents, run: await world.run("a") };
}

const outcome = (world: World, instanceId: string) =>
  world.history().find((entry) => entry.instanceId === instanceId)?.outcome;

test("a run that asks a person releases its slot and is frozen until it gets the answer", async () => {
  const { world, run } = await started();
  const asked = world.ask(run, "ask", deploy);
  const { id } = await openedQuestion(world);
  world.end(await world.run("b"));
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  await world.questions.answer(id, "YES", ada);
  expect(await asked).toMatchObject({ ok: true, answer: "yes", by: "Ada by Slack" });
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);
  const lines = world.events.flatMap((event) => (event.type === "output" ? event.entry.msg : []));
  expect(lines).toEqual([
    `waits for an answer (al answer ${id.slice(-8)}): ${deploy.question}`,
    "Ada by Slack answered: yes",
  ]);
});

test("a run that asks a person does not time out meanwhile", async () => {
  const { world, run } = await started();
  const asked = world.ask(run, "ask", deploy);
  const { id } = await openedQuestion(world);
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  expect(world.isLive(run)).toBe(true);
  await world.questions.answer(id, "no", ada);
  await asked;
  await expect.poll(() => outcome(world, run)).toBe("timed_out");
});

test("a run that asks a person works on its own time while it makes another request, and is frozen 10 s after that", async () => {
  const { world, run } = await started(60);
  const asked = world.ask(run, "ask", deploy);
  const { id } = await openedQuestion(world);
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  // It was sent before the run was frozen.
  const called = world.ask(run, "call", { agent: "b", context: "" });
  const { callId } = await called;
  const waitedMs = () => world.runs.get(run).clock.waitedMs();
  const before = waitedMs();
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);
  const waiting = world.ask(run, "call-wait", { callIds: [callId] });
  await new Promise((resolve) => setTimeout(resolve, 300));
  world.end(instancesOf(world, "b")[0] ?? "");
  await waiting;
  expect(waitedMs()).toBe(before);
  await expect.poll(() => world.frozen, { timeout: 12_000 }).toHaveLength(3);
  // The run's slot is free again.
  world.end(await world.run("b"));
  await world.questions.answer(id, "yes", ada);
  await asked;
  expect(world.frozen.at(-1)).toBe(`thaw ${run}`);
});

test("a run that asks a person gets one answer on its own time while another question is open", async () => {
  const { world, run } = await started(60);
  const long = world.ask(run, "ask", deploy);
  const { id } = await openedQuestion(world);
  const short = { question: "Now?", choices: ["yes", "no"], default: "no", timeoutSeconds: 1 };
  expect(await world.ask(run, "ask", short)).toMatchObject({ answer: "no" });
  const waitedMs = () => world.runs.get(run).clock.waitedMs();
  const before = waitedMs();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([waitedMs(), world.frozen.at(-1)]).toEqual([before, `thaw ${run}`]);
  await world.questions.answer(id, "yes", ada);
  await long;
});

test("a run that asks a person works on its own time once it has hung up", async () => {
  const { world, run } = await started(60);
  const gone = new AbortController();
  const asked = world.ask(run, "ask", deploy, { signal: gone.signal });
  await openedQuestion(world);
  gone.abort();
  await expect(asked).rejects.toThrow("hung up");
  const before = world.runs.get(run).clock.waitedMs();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(world.runs.get(run).clock.waitedMs()).toBe(before);
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);
});

test("a run that asks a person ends as unanswered if no person answers in time", async () => {
  const { world, run } = await started();
  const asked = problemOf(world.ask(run, "ask", { ...deploy, timeoutSeconds: 1 }));
  await expect.poll(() => outcome(world, run)).toBe("unanswered");
  expect(await asked).toMatchObject({ error: "unauthorized" });
});

test("a run that asks a person gets its default if no person answers in time", async () => {
  const { world, run } = await started();
  const body = { question: "How many?", type: "number", default: 3, timeoutSeconds: 1 } as const;
  expect(await world.ask(run, "ask", body)).toMatchObject({ answer: 3, by: null });
});

test("a run that asks a person gets the answer that was given before a crash of the scheduler", async () => {
  const { world, agents, run } = await started();
  const key = randomUUID();
  const asked = world.ask(run, "ask", deploy, { key }).catch(() => undefined);
  const { id } = await openedQuestion(world);
  await world.questions.answer(id, "yes", ada);
  world.crash();
  const again = createWorld({ agents, scale: 1 }, world.dir, [run]);
  await again.start();
  expect(await again.ask(run, "ask", deploy, { key })).toMatchObject({ answer: "yes" });
  await asked;
});

test("a run that asks a person asks no person again while it ends because its question ran out", async () => {
  const agents = [anAgent("a", { timeoutSeconds: 60 })];
  const options = { agents, scale: 1, stopMs: 500 };
  const world = createWorld(options);
  await world.start();
  const run = await world.run("a");
  const key = randomUUID();
  const body = { ...deploy, timeoutSeconds: 1 };
  void world.ask(run, "ask", body, { key }).catch(() => undefined);
  const { id } = await openedQuestion(world);
  await expect.poll(() => world.questions.find(id)?.state).toBe("expired");
  world.crash();
  const again = createWorld(options, world.dir, [run]);
  await again.start();
  expect(await problemOf(again.ask(run, "ask", body, { key }))).toMatchObject({
    error: "unauthorized",
  });
  await expect.poll(() => outcome(again, run)).toBe("unanswered");
  expect(again.questions.ofRun(run)).toHaveLength(1);
});

test("a run that asks a person does not lose the time of its wait to a crash of the scheduler", async () => {
  const { world, run } = await started();
  void world.ask(run, "ask", deploy).catch(() => undefined);
  const { id } = await openedQuestion(world);
  const waitedMs = () => world.store.openRuns()[0]?.waitedMs ?? 0;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(waitedMs()).toBeGreaterThan(250);
  await world.questions.answer(id, "yes", ada);
  expect(waitedMs()).toBeGreaterThan(250);
});

test("a run that asks a person waits as before for an adopted run, whose question can be answered", async () => {
  const { world, agents, run } = await started();
  const key = randomUUID();
  void world.ask(run, "ask", deploy, { key }).catch(() => undefined);
  const { id } = await openedQuestion(world);
  world.crash();
  const again = createWorld({ agents, scale: 1 }, world.dir, [run]);
  await again.start();
  const asked = again.ask(run, "ask", deploy, { key });
  await again.questions.answer(id, "no", ada);
  expect(await asked).toMatchObject({ answer: "no" });
});

test("a run that asks a person asks no more than a hundred questions", async () => {
  const { world, run } = await started(60);
  const key = randomUUID();
  void world.ask(run, "ask", deploy, { key }).catch(() => undefined);
  for (let nth = 2; nth <= 100; nth += 1) {
    void world.ask(run, "ask", deploy).catch(() => undefined);
  }
  await expect.poll(() => world.questions.list({ state: "open", limit: 200 }).length).toBe(100);
  const problem = await problemOf(world.ask(run, "ask", deploy));
  expect(problem.error).toBe("too_many_questions");
  const again = world.ask(run, "ask", deploy, { key });
  for (const { id } of world.questions.ofRun(run)) await world.questions.answer(id, "yes", ada);
  expect(await again).toMatchObject({ answer: "yes" });
});

test("a run that asks a person withdraws its question when it ends", async () => {
  const { world, run } = await started();
  void world.ask(run, "ask", deploy).catch(() => undefined);
  const { id } = await openedQuestion(world);
  world.end(run);
  await expect.poll(() => world.questions.find(id)?.state).toBe("withdrawn");
  await expect(world.questions.answer(id, "yes", ada)).rejects.toMatchObject({
    code: "answered",
  });
});

test("a run starts and ends although the store has lost the questions and waits of runs", async () => {
  const { world, run } = await started();
  const db = new DatabaseSync(join(world.dir, ".al", "state.db"));
  db.exec("DROP TABLE questions; DROP TABLE waits");
  db.close();
  world.end(run);
  const next = await world.run("b");
  world.end(next);
  await expect.poll(() => outcome(world, next)).toBe("succeeded");
  expect(outcome(world, run)).toBe("succeeded");
  expect(world.problems).toContain("the end of a question: no such table: questions");
});

test("a run that asks a person is refused a default that its question does not allow", async () => {
  const { world, run } = await started();
  const problem = await problemOf(world.ask(run, "ask", { ...deploy, default: "maybe" }));
  expect(problem).toMatchObject({ error: "malformed" });
  expect(problem.detail).toContain("one of: yes, no");
});

test("one of two answers counts, and the other person learns who was first", async () => {
  const { world, run } = await started();
  const asked = world.ask(run, "ask", deploy);
  const { id } = await openedQuestion(world);
  const [first, second] = await Promise.allSettled([
    world.questions.answer(id, "yes", ada),
    world.questions.answer(id, "no", { via: "key", name: "", from: null }),
  ]);
  expect(first.status).toBe("fulfilled");
  expect(second).toMatchObject({ reason: { code: "answered" } });
  expect(String((second as PromiseRejectedResult).reason)).toContain("Ada by Slack");
  expect(await asked).toMatchObject({ answer: "yes" });
});
