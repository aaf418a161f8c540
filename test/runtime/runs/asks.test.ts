import { randomUUID } from "node:crypto";
import { anAgent } from "../../helpers/agents.ts";
import { pause } from "../../helpers/pause.ts";
import type { World } from "./world.ts";
import {
  ada,
  answer,
  entryOf,
  expectRefusal,
  expectThawed,
  fast,
  hangingUp,
  latest,
  logged,
  openedQuestion,
  restarted,
  startedWorld,
  statusTexts,
  untilFrozen,
  changeStore,
} from "./of-world.ts";

const deploy = { question: "Deploy 1.4?", choices: ["yes", "no"] };

/** A run that has 300 s, of which ten pass in one. */
const started = (options = {}) =>
  startedWorld({
    agents: [anAgent("a", { timeoutSeconds: 300 }), anAgent("b")],
    scale: 1,
    scheduler: fast(10),
    ...options,
  });

/** A run whose question is open. */
async function asking(options = {}) {
  const { world, run } = await started(options);
  const key = randomUUID();
  const asked = world.ask(run, "ask", deploy, { key });
  const { id } = await openedQuestion(world);
  return { world, run, key, asked, id };
}

const outcome = (world: World, run: string) => entryOf(world, run)?.outcome;
const waitedMs = (world: World, run: string) => world.runs.get(run).clock.waitedMs();

/** Expects that the run's own time passes. */
async function expectOwnTime(world: World, run: string): Promise<void> {
  const before = waitedMs(world, run);
  await pause(100, "the run's clock must not stop meanwhile");
  expect(waitedMs(world, run)).toBe(before);
  expect(world.frozen.at(-1)).toBe(`thaw ${run}`);
}

test("the status text about a wait ends with the run, also if the run ends before the wait", async () => {
  const { world, run } = await asking();
  expect(statusTexts(world).at(-1)).toBe("waits for an answer: Deploy 1.4?");
  world.end(run);
  await expect.poll(() => outcome(world, run)).toBe("unanswered");
  expect(statusTexts(world).at(-1)).toBe("");
});

describe("a run that asks a person", () => {
  test("releases its slot and is frozen until it gets the answer", async () => {
    const { world, run, asked, id } = await asking();
    world.end(await world.run("b"));
    await untilFrozen(world, run);
    await answer(world, "YES");
    expect(await asked).toMatchObject({ ok: true, answer: "yes", by: "Ada via Slack" });
    expectThawed(world, run);
    expect(logged(world).map(({ msg }) => msg)).toEqual([
      `waits for an answer (al answer ${id.slice(-8)}): ${deploy.question}`,
      "Ada via Slack answered: yes",
    ]);
  });

  test("is not frozen while it makes another request, but 10 s later", async () => {
    const { world, run, asked } = await asking();
    await untilFrozen(world, run);
    // It was sent before the run was frozen.
    const { callId } = await world.ask(run, "call", { agent: "b", context: "" });
    const waiting = world.ask(run, "call-wait", { callIds: [callId] });
    await expectOwnTime(world, run);
    world.end(latest(world, "b"));
    await waiting;
    await expectOwnTime(world, run);
    await expect.poll(() => world.frozen).toHaveLength(3);
    // The run's slot is free again.
    world.end(await world.run("b"));
    await answer(world, "yes");
    await asked;
    expect(world.frozen.at(-1)).toBe(`thaw ${run}`);
  });

  test("gets a question's default at its timeout, also while another question is open", async () => {
    const { world, run, asked, id } = await asking();
    const short = { question: "Now?", choices: ["yes", "no"], default: "no", timeoutSeconds: 1 };
    expect(await world.ask(run, "ask", short)).toMatchObject({ answer: "no", by: null });
    await expectOwnTime(world, run);
    await world.questions.answer(id, "yes", ada);
    await asked;
  });

  test("has its timeout running again once it disconnects", async () => {
    const { world, run } = await started();
    const { signal, hangUp } = hangingUp();
    const asked = world.ask(run, "ask", deploy, { signal });
    await openedQuestion(world);
    hangUp();
    await expect(asked).rejects.toThrow("hung up");
    await expectOwnTime(world, run);
  });

  test("can't ask again while it ends because its question expired", async () => {
    const { world, run } = await started({ stopMs: 500 });
    const key = randomUUID();
    const body = { ...deploy, timeoutSeconds: 1 };
    void world.ask(run, "ask", body, { key });
    const { id } = await openedQuestion(world);
    await expect.poll(() => world.questions.find(id)?.state).toBe("expired");
    const again = await restarted(world, [run]);
    await expectRefusal(again.ask(run, "ask", body, { key }), "unauthorized");
    await expect.poll(() => outcome(again, run)).toBe("unanswered");
    expect(again.questions.ofRun(run)).toHaveLength(1);
  });

  test("has the time that it has waited stored while it waits", async () => {
    const { world } = await asking();
    const storedMs = () => world.store.openRuns()[0]?.waitedMs ?? 0;
    await expect.poll(storedMs).toBeGreaterThan(250);
    await answer(world, "yes");
    expect(storedMs()).toBeGreaterThan(250);
  });

  test("can ask at most 100 questions", async () => {
    const { world, run, key } = await asking();
    for (let nth = 2; nth <= 100; nth += 1) void world.ask(run, "ask", deploy);
    await expect.poll(() => world.questions.ofRun(run)).toHaveLength(100);
    await expectRefusal(world.ask(run, "ask", deploy), "too_many_questions");
    const again = world.ask(run, "ask", deploy, { key });
    for (const { id } of world.questions.ofRun(run)) await world.questions.answer(id, "yes", ada);
    expect(await again).toMatchObject({ answer: "yes" });
  });

  test("is unanswered when it ends before the answer, and withdraws its question", async () => {
    const { world, run, id } = await asking();
    world.end(run);
    await expect.poll(() => world.questions.find(id)?.state).toBe("withdrawn");
    const msg = `ended while its question was open: ${deploy.question}`;
    expect(logged(world)).toContainEqual(expect.objectContaining({ level: 40, msg }));
    expect(entryOf(world, run)).toMatchObject({ outcome: "unanswered", reason: msg });
    const late = world.questions.answer(id, "yes", ada);
    await expect(late).rejects.toMatchObject({ code: "answered" });
  });
  test.each([
    ["unanswered", "ends with its session", false],
    ["succeeded", "was given up by its model, which goes on", true],
  ])("is %s if its wait %s", async (outcome, _how, goesOn) => {
    const { world, run } = await started();
    const { signal, hangUp } = hangingUp();
    const key = randomUUID();
    world.runs.get(run).addModelCall("1", () => null);
    void world.ask(run, "ask", deploy, { key, signal });
    const { id } = await openedQuestion(world);
    hangUp();
    await world.ask(run, "cancel", {}, { key });
    await expect.poll(() => world.questions.find(id)?.state).toBe("withdrawn");
    if (goesOn) world.runs.get(run).addModelCall("2", () => null);
    world.end(run);
    await expect.poll(() => entryOf(world, run)?.outcome).toBe(outcome);
  });
});

test("a run starts and ends even if the store's tables of questions and waits are missing", async () => {
  const { world, run } = await started();
  changeStore(world, "DROP TABLE questions; DROP TABLE waits");
  world.end(run);
  const next = await world.run("b");
  world.end(next);
  await expect.poll(() => outcome(world, next)).toBe("succeeded");
  expect(outcome(world, run)).toBe("succeeded");
  expect(world.problems).toContain("the end of a question: no such table: questions");
});

test("a run's question whose default is not one of the choices is rejected", async () => {
  const { world, run } = await started();
  const detail = expect.stringContaining("one of: yes, no") as string;
  await expectRefusal(world.ask(run, "ask", { ...deploy, default: "maybe" }), "malformed", {
    detail,
  });
});
