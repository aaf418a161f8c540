import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { asyncScheduler, type SchedulerLike } from "rxjs";
import { createMatchIndex } from "../../../src/features/webhooks/match-index.ts";
import { createReceiver, type ReceiverDeps } from "../../../src/features/webhooks/receive.ts";
import type { Answer, Person } from "../../../src/foundation/contracts/questions.ts";
import type { AgentConfig, Approval, McpServer } from "../../../streams/agent-config.ts";
import { pause } from "../../helpers/pause.ts";
import { createWorld, githubSource, type World, type WorldOptions } from "./world.ts";

export const ada: Person = { via: "slack", name: "Ada", from: null };

/** What a person has to approve. */
export const approving = (approve: Partial<Approval>) => ({
  approve: { hosts: [], over: null, agents: [], tools: [], ...approve },
});

/** A server with all its tools. */
export const anMcpServer = (more: Partial<McpServer> = {}): McpServer => ({
  name: "hub",
  url: null,
  command: null,
  tools: ["*"],
  credential: null,
  private: false,
  timeoutSeconds: 60,
  ...more,
});

/** Time that passes this many times as fast. */
export function fast(speed: number): SchedulerLike {
  const began = Date.now();
  return {
    now: () => began + (Date.now() - began) * speed,
    schedule: (work, delay, state) =>
      asyncScheduler.schedule(work as never, (delay ?? 0) / speed, state),
  };
}

/** A world that has started, and its run of the agent a. */
export async function startedWorld(options: WorldOptions) {
  const world = createWorld(options);
  await world.start();
  return { world, run: await world.run("a") };
}

/** The next scheduler after a crash of this one; these runs are still live. */
export async function restarted(
  world: World,
  live: readonly string[],
  more: Partial<WorldOptions> = {},
): Promise<World> {
  world.crash();
  const next = createWorld({ ...world.options, ...more }, world.dir, live);
  await next.start();
  return next;
}

/** The instances that run an agent, in the order in which they were started. */
export function instancesOf(world: World, agent: string): string[] {
  return world.events.flatMap((event) =>
    event.type === "started" && event.agent === agent ? [event.instanceId] : [],
  );
}

/** The latest instance of an agent. */
export const latest = (world: World, agent: string): string =>
  instancesOf(world, agent).at(-1) ?? "";

/** The history's entry of a run. */
export const entryOf = (world: World, instanceId: string) =>
  world.history().find((entry) => entry.instanceId === instanceId);

export const statusTexts = (world: World): string[] =>
  world.events.flatMap((event) => (event.type === "status-text" ? [event.text] : []));

/** The lines of runs' logs. */
export const logged = (world: World) =>
  world.events.flatMap((event) => (event.type === "output" ? [event.entry] : []));

/** The world's latest open question, once there is one. */
export function openedQuestion(world: World) {
  return vi.waitFor(
    () => {
      const [question] = world.questions.list({ state: "open", limit: 1 });
      if (question === undefined) throw new Error("no question is open");
      return question;
    },
    { timeout: 60_000 },
  );
}

/** Ada answers the world's open question. */
export async function answer(world: World, given: Answer) {
  const question = await openedQuestion(world);
  await world.questions.answer(question.id, given, ada);
  return question;
}

/** Expects a request to be refused. */
export async function expectRefusal(
  asked: Promise<unknown>,
  error: string,
  { detail: message = expect.any(String), ...members }: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await expect(asked).rejects.toMatchObject({ code: error, message, members });
}

/** Expects a request to wait on. */
export async function expectWaiting(asked: Promise<unknown>): Promise<void> {
  const early = pause(20, "it must not be answered meanwhile", "waits");
  expect(await Promise.race([asked, early])).toBe("waits");
}

/** Why a host is refused that a person has denied. */
export const denied = "a person denied it for the rest of this run";

/** Waits until the run is frozen, for the first time. */
export const untilFrozen = (world: World, run: string) =>
  expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);

/** Expects that the run was frozen once, and works again. */
export const expectThawed = (world: World, run: string) =>
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);

/** Ends the run, and waits until it is gone. */
export async function ended(world: World, run: string): Promise<void> {
  world.end(run);
  await expect.poll(() => world.isLive(run)).toBe(false);
}

/** Changes what is stored, as another process does. */
export function changeStore({ dir }: World, sql: string): void {
  const db = new DatabaseSync(join(dir, ".al", "state.db"));
  db.exec(sql);
  db.close();
}

/** How many questions were asked. */
export const asked = (world: World): number => world.questions.list({ limit: 100 }).length;

/** A request that hangs up when it is told to. */
export function hangingUp() {
  const gone = new AbortController();
  return { signal: gone.signal, hangUp: () => gone.abort(new Error("hung up")) };
}

/**
 * What a sender of webhooks meets: the real receiver over the world's store, queue and waits. Delivers an event, and
 * resolves to the id of its receipt.
 */
export function receiverOf(
  world: World,
  filters: readonly AgentConfig[] = [],
  more: Partial<ReceiverDeps> = {},
) {
  const index = createMatchIndex();
  for (const agent of filters) index.set(agent, true);
  const receive = createReceiver({
    sources: () => [githubSource],
    secretsOf: () => [],
    index,
    now: Date.now,
    newId: randomUUID,
    matchRuns: (event, payload) => world.requests.matchDelivery(event, payload),
    accept: (acceptance) => world.store.receipts.accept(acceptance),
    gatheringOf: () => null,
    gathers: () => undefined,
    dispatch: world.dispatch,
    refused: () => undefined,
    count: () => undefined,
    warn: (message) => world.problems.push(message),
    ...more,
  });
  return async (event: string, payload: object = {}): Promise<string> => {
    const headers = { "x-github-event": event, "x-github-delivery": randomUUID() };
    const body = Buffer.from(JSON.stringify(payload));
    const answered = await receive({ type: "github", source: "gh", headers, body });
    return String((answered as { body: Record<string, unknown> }).body.receiptId);
  };
}
