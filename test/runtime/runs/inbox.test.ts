import type { Person } from "../../../src/foundation/contracts/questions.ts";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, problemOf, worldSecret } from "./world.ts";

const by: Person = { via: "login", name: "", from: null };

async function started() {
  const agents = [anAgent("a"), anAgent("b")];
  const world = createWorld({ agents });
  await world.start();
  return { world, agents, run: await world.run("a") };
}

test("a live run gets the messages of people in their order, and confirms them with its next request", async () => {
  const { world, run } = await started();
  const asked = world.ask(run, "inbox", { after: 0 });
  const seq =
    (await world.inbox.add({ instanceId: run, kind: "steer", text: "One.", by }))?.seq ?? 0;
  expect((await asked).messages).toEqual([
    { seq, kind: "steer", text: "One.", by: "the dashboard" },
  ]);
  expect(world.inbox.ofRun(run)[0]?.receivedAt).toBeNull();
  await world.inbox.add({ instanceId: run, kind: "stop", text: "", by });
  const { messages } = await world.ask(run, "inbox", { after: seq });
  expect(messages.map(({ kind }) => kind)).toEqual(["stop"]);
  expect(world.inbox.ofRun(run)[0]?.receivedAt).toBeGreaterThan(0);
});

test("a live run gets a message that is being stored with its last request, which does not wait", async () => {
  const { world, run } = await started();
  const last = (after: number) => world.ask(run, "inbox", { after, isLast: true });
  const added = world.inbox.add({ instanceId: run, kind: "steer", text: "One.", by });
  expect((await last(0)).messages).toMatchObject([{ text: "One." }]);
  expect(await last((await added)?.seq ?? 0)).toEqual({ ok: true, messages: [] });
});

test("a live run is frozen while it waits for a person, though it also waits for messages", async () => {
  const { world, run } = await started();
  void world.ask(run, "inbox", { after: 0 }).catch(() => undefined);
  void world.ask(run, "ask", { question: "Go?" }).catch(() => undefined);
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  await world.inbox.add({ instanceId: run, kind: "steer", text: "Wait.", by });
  expect(world.frozen).toEqual([`freeze ${run}`]);
});

test("a live run gets a message that was sent before its scheduler was killed", async () => {
  const { world, agents, run } = await started();
  await world.inbox.add({ instanceId: run, kind: "steer", text: `Use ${worldSecret}.`, by });
  world.crash();
  const again = createWorld({ agents }, world.dir, [run]);
  await again.start();
  const { messages } = await again.ask(run, "inbox", { after: 0 });
  expect(messages).toMatchObject([{ text: "Use [redacted]." }]);
});

test.each([
  ["reports the end of its session", "session-end", {}],
  ["asks for its last messages, and there are none", "inbox", { after: 0, isLast: true }],
] as const)(
  "a live run accepts no message once it %s, also after its scheduler was killed",
  async (_how, ability, body) => {
    const { world, agents, run } = await started();
    const send = (to: typeof world) =>
      to.inbox.add({ instanceId: run, kind: "steer", text: "Too late.", by });
    expect(await send(world)).not.toBeNull();
    if (ability === "inbox") {
      const { messages } = await world.ask(run, ability, body);
      await world.ask(run, ability, { ...body, after: messages[0]?.seq ?? 0 });
    } else await world.ask(run, ability, body);
    expect(await send(world)).toBeNull();
    world.crash();
    const again = createWorld({ agents }, world.dir, [run]);
    await again.start();
    expect(await send(again)).toBeNull();
    again.end(run);
    await expect.poll(() => again.isLive(run)).toBe(false);
  },
);

test("a live run has at most 50 messages that it has not received", async () => {
  const { world, run } = await started();
  const send = () => world.inbox.add({ instanceId: run, kind: "steer", text: "More.", by });
  for (let count = 0; count < 50; count += 1) await send();
  await expect(send()).rejects.toMatchObject({ code: "refused" });
  const { messages } = await world.ask(run, "inbox", { after: 0 });
  const answered = world.ask(run, "inbox", { after: messages.at(-1)?.seq ?? 0 });
  await expect.poll(send).toMatchObject({ receivedAt: null });
  expect((await answered).messages).toHaveLength(1);
});

const part = { part: 0, isLast: false, entries: `{"said":"${worldSecret}"}` };

test("the session of a run is stored in parts without secrets, and is whole with its last part", async () => {
  const { world, run } = await started();
  await world.ask(run, "keep-session", part);
  expect(world.sessions.isWhole(run)).toBe(false);
  await world.ask(run, "keep-session", { part: 1, isLast: true, entries: '{"n":2}' });
  expect(world.sessions.isWhole(run)).toBe(true);
  expect(world.sessions.part(run, 0)?.entries).toBe('{"said":"[redacted]"}');
  const continues = { instanceId: run, endedAt: 1 };
  const next = await world.run("b", { kind: "manual", prompt: "Go on.", continues });
  expect(await world.ask(next, "kept-session", { part: 1 })).toMatchObject({
    isLast: true,
    entries: '{"n":2}',
  });
  expect(await problemOf(world.ask(run, "kept-session", { part: 0 }))).toMatchObject({
    error: "unavailable",
  });
});

test("a run that has ended can send neither its session nor a request for messages", async () => {
  const { world, run } = await started();
  world.end(run);
  await expect.poll(() => world.isLive(run)).toBe(false);
  for (const asked of [
    () => world.ask(run, "keep-session", part),
    () => world.ask(run, "inbox", { after: 0 }),
  ]) {
    const problem = await Promise.resolve()
      .then(asked)
      .catch((error: unknown) => error);
    expect(problem).toMatchObject({ problem: { error: "unauthorized" } });
  }
  expect(world.sessions.part(run, 0)).toBeNull();
});
