import type { Person } from "../../../src/foundation/contracts/questions.ts";
import { anAgent } from "../../helpers/agents.ts";
import { isLong } from "../../helpers/long.ts";
import { liveObjects } from "../../helpers/live-objects.ts";
import { createWorld, type World } from "../../runtime/runs/world.ts";

const ada: Person = { via: "slack", name: "Ada", from: null };
const ignored = (): void => undefined;

const soon = { timeout: 60_000 };

/** Requests of a run in its life. */
const lives: Readonly<Record<string, (world: World, run: string, n: number) => Promise<void>>> = {
  "takes a lock": async (world, run, n) => {
    await world.ask(run, "lock", { resource: `demo:${n}` });
    await world.ask(run, "unlock", { resource: `demo:${n}` });
  },
  "gets a message of a person": async (world, run) => {
    const asked = world.ask(run, "inbox", { after: 0 });
    await world.inbox.add({ instanceId: run, kind: "steer", text: "One.", by: ada });
    await asked;
  },
  "asks for its last messages": async (world, run) => {
    await world.ask(run, "inbox", { after: 0, isLast: true });
  },
  "asks a person": async (world, run) => {
    const asked = world.ask(run, "ask", { question: `Go ${run}?` });
    await vi.waitFor(async () => {
      const open = world.questions.list({ state: "open", limit: 100 });
      const own = open.find(({ instanceId }) => instanceId === run);
      if (own === undefined) throw new Error("not asked yet");
      await world.questions.answer(own.id, "yes", ada);
    }, soon);
    await asked;
  },
  "calls an agent": async (world, run) => {
    const { callId } = await world.ask(run, "call", { agent: "b", context: "" });
    const waiting = world.ask(run, "call-wait", { callIds: [callId] });
    let isOver = false;
    void waiting.finally(() => (isOver = true));
    // The callee that ends may be of another call: each call ends callees until its own is over.
    await vi.waitFor(() => {
      const [callee] = world.runs.of("b");
      if (callee !== undefined && !isOver) world.end(callee);
      if (!isOver) throw new Error("the call is not over yet");
    }, soon);
    await waiting;
  },
  "hangs up on its waits": async (world, run) => {
    const gone = new AbortController();
    const asks = [
      world.ask(run, "wait", { kind: "webhook" }, gone),
      world.ask(run, "budget-wait", {}, gone),
      world.ask(run, "inbox", { after: 0 }, gone),
    ];
    gone.abort();
    await Promise.all(asks.map((ask) => ask.catch(ignored)));
  },
  "ends in its waits": async (world, run) => {
    void world.ask(run, "wait", { kind: "webhook", timeoutSeconds: 3_600 }).catch(ignored);
    void world.ask(run, "budget-wait", {}).catch(ignored);
    await Promise.resolve();
  },
};

/** One object that each run leaves is seen in a hundred. */
const count = isLong ? 1_000 : 100;

const allInTurn: (typeof lives)[string] = async (...run) => {
  for (const live of Object.values(lives)) await live(...run);
};

test.each(isLong ? Object.entries(lives) : [["does all that a run can", allInTurn] as const])(
  `${count} runs leave no object in memory when each %s`,
  { timeout: 600_000 },
  async (_what, live) => {
    const world = createWorld({ agents: [anAgent("a", { scale: 10 }), anAgent("b")] });
    await world.start();
    const one = async (n: number): Promise<void> => {
      const run = await world.run("a");
      await live(world, run, n);
      world.end(run);
      await vi.waitFor(() => expect(world.isLive(run)).toBe(false), soon);
    };
    const runs = async (count: number): Promise<number> => {
      for (let n = 0; n < count; n += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, k) => one(n + k)));
        world.events.length = world.frozen.length = 0;
      }
      return liveObjects();
    };
    // The first runs fill caches that all runs share.
    const before = await runs(count / 5);
    const after = await runs(count);
    expect(world.problems).toEqual([]);
    expect(after - before).toBeLessThan(count / 2);
  },
);
