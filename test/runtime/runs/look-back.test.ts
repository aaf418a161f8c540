import { randomUUID } from "node:crypto";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, type World } from "./world.ts";
import {
  ended,
  expectRefusal,
  instancesOf,
  logged,
  receiverOf,
  restarted,
  startedWorld,
} from "./of-world.ts";

/** Starts with pushes; `b` with pushes too, and calls. */
const pushes = { webhooks: [{ source: "gh", type: "github", filters: { events: ["push"] } }] };
const agents = [anAgent("a", { scale: 2, ...pushes }), anAgent("b", pushes)];

async function waiting() {
  const { world, run } = await startedWorld({ agents });
  return { world, run, deliver: receiverOf(world, agents) };
}

const once = { kind: "webhook", timeoutSeconds: 0 } as const;
const nothing = { ok: true, timedOut: true, trigger: null };
const turn = () => new Promise((resolve) => setImmediate(resolve));
/** The receipt that met a wait of the run. */
const met = async (world: World, run: string, more: object = {}) =>
  (await world.ask(run, "wait", { ...once, ...more })).trigger?.receiptId;

describe("a wait for a webhook", () => {
  test("returns an unused delivery that arrived since the run's start", async () => {
    const { world, run, deliver } = await waiting();
    const receiptId = await deliver("issues", { issue: { number: 7 } });
    const where = { "issue.number": 7 };
    const answer = await world.ask(run, "wait", { ...once, event: "issues", where });
    expect(answer).toMatchObject({
      ok: true,
      timedOut: false,
      trigger: { kind: "webhook", event: "issues", receiptId, payload: { issue: { number: 7 } } },
    });
    expect(world.history().filter(({ kind }) => kind === "webhook")).toMatchObject([
      {
        agent: "a",
        instanceId: run,
        outcome: "succeeded",
        deadLetter: false,
        receiptId,
        reason: `taken by ${run}, which waited for it`,
      },
    ]);
    expect(world.store.receipts.get(receiptId)).toMatchObject({ matched: ["a"], reason: null });
    expect([world.store.waits.all(), world.frozen]).toEqual([[], []]);
  });

  test("returns the oldest delivery first, each one once per run", async () => {
    const { world, run, deliver } = await waiting();
    const ids = [await deliver("issues"), await deliver("issues")];
    expect([await met(world, run), await met(world, run)]).toEqual(ids);
    expect(await world.ask(run, "wait", once)).toEqual(nothing);
  });

  test("ignores deliveries before the run's start", async () => {
    const world = createWorld({ agents });
    await world.start();
    await receiverOf(world)("issues");
    const at = Date.parse(world.history()[0]?.at ?? "");
    await expect.poll(() => Date.now()).toBeGreaterThan(at);
    expect(await world.ask(await world.run("a"), "wait", once)).toEqual(nothing);
  });

  test("returns only earlier deliveries with the required source, event and values", async () => {
    const { world, run, deliver } = await waiting();
    await deliver("issues", { issue: { number: 8 } });
    const comment = await deliver("issue_comment", { issue: { number: 7 } });
    const id = await deliver("issues", { issue: { number: 7 } });
    const where = { "issue.number": 7 };
    expect(await met(world, run, { source: "gh", event: "issues", where })).toBe(id);
    expect(await met(world, run, { where })).toBe(comment);
  });

  test("returns a delivery that started a run of another agent, but not of the same agent", async () => {
    const { world, run } = await startedWorld({ agents: [...agents, anAgent("c")] });
    const other = await world.run("c");
    const id = await receiverOf(world, agents)("push");
    await expect.poll(() => instancesOf(world, "a")).toHaveLength(2);
    const second = instancesOf(world, "a")[1] ?? "";
    expect(await world.ask(run, "wait", once)).toEqual(nothing);
    await ended(world, second);
    expect(await world.ask(run, "wait", once)).toEqual(nothing);
    expect(await met(world, other)).toBe(id);
    expect(world.store.receipts.get(id)?.matched).toEqual(["a", "b", "c"]);
  });

  test("finds a delivery among more deliveries than one page", async () => {
    const { world, run, deliver } = await waiting();
    await Promise.all(Array.from({ length: 1_200 }, (_, n) => deliver("issues", { n })));
    const id = await deliver("release");
    expect(await met(world, run, { event: "release" })).toBe(id);
    const late = await deliver("issues", { found: "me" });
    expect(await met(world, run, { where: { found: "me" } })).toBe(late);
  });

  test("neither loses nor repeats deliveries that arrive while it searches earlier ones", async () => {
    const { world, run, deliver } = await waiting();
    const delivered: Promise<string>[] = [];
    const told: unknown[] = [];
    const event = "issues";
    for (let n = 0; n < 40; n++) {
      delivered.push(deliver(event, { n }));
      void deliver("other");
      const meeting = met(world, run, { event, timeoutSeconds: undefined });
      if (n % 3 === 0) await turn();
      delivered.push(deliver(event, { n: n + 100 }));
      told.push(await meeting);
    }
    for (let n = 0; n < 40; n++) told.push(await met(world, run, { event }));
    expect(told.toSorted()).toEqual((await Promise.all(delivered)).toSorted());
    expect(await world.ask(run, "wait", { ...once, event })).toEqual(nothing);
    expect(world.problems).toEqual([]);
  });

  test.each([0, 1, 2, 3, 4, 8])(
    "returns an earlier delivery once, also if the scheduler crashes %d turns of the event loop after the wait began",
    async (turns) => {
      const { world, run, deliver } = await waiting();
      const key = randomUUID();
      const id = await deliver("issues");
      const asked = { kind: "webhook", event: "issues", timeoutSeconds: 60 } as const;
      void world.ask(run, "wait", asked, { key });
      for (let n = 0; n < turns; n++) await turn();
      const next = await restarted(world, [run]);
      const answer = await next.ask(run, "wait", asked, { key });
      expect(answer.trigger?.receiptId).toBe(id);
      expect(await next.ask(run, "wait", asked, { key })).toEqual(answer);
      expect(await next.ask(run, "wait", once)).toEqual(nothing);
    },
  );
});

test.each([
  ["webhook", "ghh", "unknown_source", 'webhook source "ghh"; did you mean "gh"?'],
  ["webhook", "stripe", "unknown_source", 'webhook source "stripe"; it has gh'],
  ["agent-call", "bb", "unknown_agent", 'agent "bb"; did you mean "b"?'],
] as const)(
  "a wait for a trigger with kind %s and source %s is rejected with %s",
  async (kind, source, error, what) => {
    const { world, run } = await waiting();
    const asked = world.ask(run, "wait", { kind, source });
    await expectRefusal(asked, error, { detail: `The project has no ${what}` });
    expect(world.store.waits.all()).toEqual([]);
  },
);

test("a wait for a trigger that exceeds the limit says so in the response and the agent's log", async () => {
  const { world, run } = await startedWorld({
    agents: [anAgent("a", { waitTimeoutSeconds: 0.05 })],
  });
  const answer = await world.ask(run, "wait", { kind: "webhook", timeoutSeconds: 7_200 });
  const why = expect.stringMatching(/waits at most 0.05 s instead of 7200 s: .*10 times/) as string;
  const limited = { askedSeconds: 7_200, timeoutSeconds: 0.05, why };
  expect(answer).toEqual({ ...nothing, limited });
  expect(logged(world)).toMatchObject([{ level: 40, agent: "a", instanceId: run, msg: why }]);
});
