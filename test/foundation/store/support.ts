import { openStore } from "../../../src/features/open-store.ts";
import { type Store } from "../../../src/foundation/store/store.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunEnd, RunRequest, Trigger, WorkItem } from "../../../streams/vocabulary.ts";

/** The project of each store. */
const dirs = new WeakMap<Store, string>();

export function tempStore(dir = tempDir(), now?: () => number): Store {
  const store = openStore(dir, now);
  dirs.set(store, dir);
  onTestFinished(() => store.close());
  return store;
}

/** The store as the next scheduler opens it. */
export function reopened(store: Store, now?: () => number): Store {
  store.close();
  return tempStore(dirs.get(store), now);
}

/** Adds an item and claims it for a run. */
export async function claimed(store: Store, item: WorkItem, instanceId?: string): Promise<void> {
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, instanceId));
}

/** Claims an item for a run whose process is then asked for something. */
export async function beginRun(store: Store, request: RunRequest): Promise<void> {
  await store.work.claim(request);
  const { instanceId } = request;
  await store.channels.add({ instanceId, tokenHash: "0".repeat(64), dir: `/tmp/${instanceId}` });
}

export function manualItem(id: string, agent = "dev", at = 1_000): WorkItem {
  return { id, agent, at, attempt: 1, trigger: { kind: "manual", prompt: `do ${id}` } };
}

export function cronItem(id: string, agent = "dev", at = 1_000): WorkItem {
  return { id, agent, at, attempt: 1, trigger: { kind: "cron", scheduledFor: at } };
}

export function webhookItem(id: string, receiptId: string, agent = "dev", at = 1_000): WorkItem {
  const event = {
    source: "gh",
    type: "github",
    event: "issues",
    action: "opened",
    repo: "o/r",
    number: 1,
    title: "t",
    body: null,
    url: null,
    author: null,
    labels: [],
    sender: null,
    branch: null,
    conclusion: null,
    timestamp: "2026-11-21T00:00:00.000Z",
    receiptId,
  };
  return { id, agent, at, attempt: 1, trigger: { kind: "webhook", event } };
}

type CallTrigger = Extract<Trigger, { kind: "agent-call" }>;

/** A call of ops to dev; `call` has the subject of a test. */
export function callItem(id: string, call: Partial<CallTrigger> = {}, agent = "dev"): WorkItem {
  const trigger: CallTrigger = {
    kind: "agent-call",
    callId: `call-${id}`,
    caller: "ops",
    callerInstance: "ops-1",
    depth: 1,
    root: "root",
    context: "do it",
    cancelOnExit: false,
    ...call,
  };
  return { id, agent, at: 1_000, attempt: 1, trigger };
}

export function requestFor(item: WorkItem, instanceId = `${item.agent}-aaaaaaaa`): RunRequest {
  // Claiming reads the agent's name only.
  return { item, instanceId, agent: { name: item.agent } as AgentConfig };
}

export const succeeded: RunEnd = {
  outcome: "succeeded",
  exitCode: 0,
  reason: null,
  usage: { model: "m", tokens: 12, costUsd: 0.5, turns: 2 },
};

export const wholeHistory = { page: 1, limit: 200 };
