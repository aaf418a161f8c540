import { randomUUID } from "node:crypto";
import { createMatchIndex } from "../../../src/features/webhooks/match-index.ts";
import { createReceiver } from "../../../src/features/webhooks/receive.ts";
import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, problemOf, type World } from "./world.ts";
import { instancesOf } from "./of-world.ts";

const source = { name: "gh", type: "github", credential: null, allowUnsigned: true };
const listens = (filters: WebhookBinding["filters"]) => [{ source: "gh", type: "github", filters }];
/** Starts with pushes; `b` with pushes too, and calls. */
const agents = [
  anAgent("a", { scale: 2, webhooks: listens({ events: ["push"] }) }),
  anAgent("b", { webhooks: listens({ events: ["push"] }) }),
];

/** What a sender of webhooks meets: the real receiver over the world's store, queue and waits. */
function receiverOf(world: World, filters = agents) {
  const index = createMatchIndex();
  for (const agent of filters) index.set(agent, true);
  const receive = createReceiver({
    sources: () => [source],
    secretsOf: () => [],
    index,
    now: Date.now,
    newId: randomUUID,
    matchRuns: (event, payload) => world.requests.matchDelivery(event, payload),
    accept: (acceptance) => world.store.receipts.accept(acceptance),
    dispatch: world.dispatch,
    refused: () => undefined,
    count: () => undefined,
    warn: (message) => world.problems.push(message),
  });
  return async (event: string, payload: object = {}): Promise<string> => {
    const headers = { "x-github-event": event, "x-github-delivery": randomUUID() };
    const body = Buffer.from(JSON.stringify(payload));
    const answer = await receive({ type: "github", source: "gh", headers, body });
    return String((answer as { body: Record<string, unknown> }).body.receiptId);
  };
}

async function started(options: { readonly dir?: string } = {}) {
  const world = createWorld({ agents }, options.dir);
  await world.start();
  const run = await world.run("a");
  return { world, run, deliver: receiverOf(world) };
}

const once = { kind: "webhook", timeoutSeconds: 0 } as const;
const nothing = { ok: true, timedOut: true, trigger: null };

test("a wait looks back and is met by an unused delivery since its run's start", async () => {
  const { world, run, deliver } = await started();
  const receiptId = await deliver("issues", { issue: { number: 7 } });
  const where = { "issue.number": 7 };
  const answer = await world.ask(run, "wait", { ...once, event: "issues", where });
  expect(answer).toMatchObject({
    ok: true,
    timedOut: false,
    trigger: { kind: "webhook", event: "issues", receiptId, payload: { issue: { number: 7 } } },
  });
  const entries = world.history().filter(({ kind }) => kind === "webhook");
  expect(entries).toMatchObject([
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
  expect(world.store.waits.all()).toEqual([]);
  expect(world.frozen).toEqual([]);
});

test("a wait looks back from the oldest delivery on, and each meets one wait of a run", async () => {
  const { world, run, deliver } = await started();
  const ids = [await deliver("issues"), await deliver("issues"), await deliver("issues")];
  const told = [];
  for (let n = 0; n < 3; n++) told.push((await world.ask(run, "wait", once)).trigger?.receiptId);
  expect(told).toEqual(ids);
  expect(await world.ask(run, "wait", once)).toEqual(nothing);
});

test("a wait looks back to its run's start, not before it", async () => {
  const world = createWorld({ agents });
  await world.start();
  const deliver = receiverOf(world);
  await deliver("issues");
  const at = Date.parse(world.history()[0]?.at ?? "");
  await expect.poll(() => Date.now()).toBeGreaterThan(at);
  const run = await world.run("a");
  expect(await world.ask(run, "wait", once)).toEqual(nothing);
});

test("only at deliveries with its source, event and values", async () => {
  const { world, run, deliver } = await started();
  await deliver("issues", { issue: { number: 8 } });
  await deliver("issue_comment", { issue: { number: 7 } });
  const id = await deliver("issues", { issue: { number: 7 } });
  const where = { "issue.number": 7 };
  const answer = await world.ask(run, "wait", { ...once, source: "gh", event: "issues", where });
  expect(answer.trigger?.receiptId).toBe(id);
  expect(await world.ask(run, "wait", { ...once, where })).toMatchObject({
    trigger: { event: "issue_comment" },
  });
});

test("a wait looks back at a delivery that started a run of another agent, but not of its own", async () => {
  const { world, run, deliver } = await started();
  const id = await deliver("push");
  await expect.poll(() => instancesOf(world, "b")).toHaveLength(1);
  const [, second] = instancesOf(world, "a");
  if (second === undefined) throw new Error("the push started no run of a");
  expect(await world.ask(run, "wait", once)).toEqual(nothing);
  world.end(second);
  await expect.poll(() => world.isLive(second)).toBe(false);
  expect(await world.ask(run, "wait", once)).toEqual(nothing);

  const other = createWorld({ agents: [anAgent("c"), ...agents] });
  await other.start();
  const waiting = await other.run("c");
  const pushed = await receiverOf(other)("push");
  await expect.poll(() => instancesOf(other, "b")).toHaveLength(1);
  const answer = await other.ask(waiting, "wait", once);
  expect(answer.trigger?.receiptId).toBe(pushed);
  expect(other.store.receipts.get(pushed)?.matched).toEqual(["a", "b", "c"]);
  expect(id).not.toBe(pushed);
});

test("a wait looks back and takes work out of its agent's queue", async () => {
  const { world, run, deliver } = await started();
  const second = await world.run("a");
  const id = await deliver("push");
  const answer = await world.ask(run, "wait", { ...once, event: "push" });
  expect(answer.trigger?.receiptId).toBe(id);
  world.end(second);
  await expect.poll(() => world.isLive(second)).toBe(false);
  expect(instancesOf(world, "a")).toEqual([run, second]);
});

test("a wait looks back and leaves a delivery to another run of the agent that waited for it", async () => {
  const { world, run, deliver } = await started();
  const second = await world.run("a");
  const waiting = world.ask(second, "wait", { kind: "webhook", event: "issues" });
  await expect.poll(() => world.store.waits.all()).toHaveLength(1);
  await expect.poll(() => world.frozen).toContain(`freeze ${second}`);
  const id = await deliver("issues");
  expect((await waiting).trigger?.receiptId).toBe(id);
  expect(await world.ask(run, "wait", once)).toEqual(nothing);
});

test("a wait looks back past more deliveries than one page holds", async () => {
  const { world, run, deliver } = await started();
  await Promise.all(Array.from({ length: 1_200 }, (_, n) => deliver("issues", { n })));
  const id = await deliver("release", { last: true });
  const byEvent = await world.ask(run, "wait", { ...once, event: "release" });
  expect(byEvent.trigger?.receiptId).toBe(id);
  const late = await deliver("issues", { found: "me" });
  const byValue = await world.ask(run, "wait", { ...once, where: { found: "me" } });
  expect(byValue.trigger?.receiptId).toBe(late);
});

test("a wait looks back and neither loses nor repeats deliveries that come meanwhile", async () => {
  const { world, run, deliver } = await started();
  const delivered: Promise<string>[] = [];
  const told: unknown[] = [];
  for (let n = 0; n < 40; n++) {
    delivered.push(deliver("issues", { n }), deliver("other"));
    const asked = world.ask(run, "wait", { kind: "webhook", event: "issues" });
    if (n % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    delivered.push(deliver("issues", { n: n + 100 }));
    told.push((await asked).trigger?.receiptId);
  }
  for (let n = 0; n < 40; n++) {
    told.push((await world.ask(run, "wait", { ...once, event: "issues" })).trigger?.receiptId);
  }
  const ids = await Promise.all(delivered);
  const wanted = ids.filter((_, n) => n % 3 !== 1);
  expect(told.toSorted()).toEqual(wanted.toSorted());
  expect(await world.ask(run, "wait", { ...once, event: "issues" })).toEqual(nothing);
  expect(world.problems).toEqual([]);
});

test.each([0, 1, 2, 3, 4, 8])(
  "a wait looks back once, over a crash %d turns after it began",
  async (turns) => {
    const { world, run, deliver } = await started();
    const key = randomUUID();
    const id = await deliver("issues");
    const asked = { kind: "webhook", event: "issues", timeoutSeconds: 60 } as const;
    void world.ask(run, "wait", asked, { key }).catch(() => undefined);
    for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve));
    world.crash();

    const next = createWorld({ agents }, world.dir, [run]);
    await next.start();
    const answer = await next.ask(run, "wait", asked, { key });
    expect(answer.trigger?.receiptId).toBe(id);
    expect(await next.ask(run, "wait", asked, { key })).toEqual(answer);
    expect(await next.ask(run, "wait", once)).toEqual(nothing);
  },
);

test("a wait is rejected when the project has no such source, with a similar name", async () => {
  const { world, run } = await started();
  const problem = await problemOf(world.ask(run, "wait", { kind: "webhook", source: "ghh" }));
  expect(problem).toEqual({
    error: "unknown_source",
    detail: 'The project has no webhook source "ghh"; did you mean "gh"?',
  });
  const far = await problemOf(world.ask(run, "wait", { kind: "webhook", source: "stripe" }));
  expect(far.detail).toBe('The project has no webhook source "stripe"; it has gh');
  expect(world.store.waits.all()).toEqual([]);
});

test("a wait is rejected when it is for calls of an unknown agent", async () => {
  const { world, run } = await started();
  const problem = await problemOf(world.ask(run, "wait", { kind: "agent-call", source: "bb" }));
  expect(problem).toEqual({
    error: "unknown_agent",
    detail: 'The project has no agent "bb"; did you mean "b"?',
  });
});

test("a wait with too long a timeout reports that in its answer and in the agent's log", async () => {
  const world = createWorld({ agents: [anAgent("a", { waitTimeoutSeconds: 0.05 })] });
  await world.start();
  const run = await world.run("a");
  const answer = await world.ask(run, "wait", { kind: "webhook", timeoutSeconds: 7_200 });
  const why =
    "waits at most 0.05 s instead of 7200 s: a wait lasts no longer than the agent's waitTimeout, and all waits of a run no longer than 10 times that";
  const limited = { askedSeconds: 7_200, timeoutSeconds: 0.05, why };
  expect(answer).toEqual({ ok: true, timedOut: true, limited, trigger: null });
  const lines = world.events.flatMap((event) => (event.type === "output" ? [event.entry] : []));
  expect(lines).toMatchObject([
    { level: 40, agent: "a", instanceId: run, msg: `wait_for_trigger ${why}` },
  ]);
});

test("a wait with too long a timeout reports that when it is met, even after a restart", async () => {
  const world = createWorld({ agents: [anAgent("a", { waitTimeoutSeconds: 30 })] });
  await world.start();
  const run = await world.run("a");
  const key = randomUUID();
  const asked = { kind: "webhook", timeoutSeconds: 40 } as const;
  void world.ask(run, "wait", asked, { key }).catch(() => undefined);
  await expect.poll(() => world.store.waits.all()).toHaveLength(1);
  world.crash();
  const next = createWorld({ agents }, world.dir, [run]);
  await next.start();
  await receiverOf(next)("issues");
  expect(await next.ask(run, "wait", asked, { key })).toMatchObject({
    timedOut: false,
    trigger: { event: "issues" },
    limited: { askedSeconds: 40, timeoutSeconds: 30 },
  });
});
