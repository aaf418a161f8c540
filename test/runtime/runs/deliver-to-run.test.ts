import { v7 as uuidV7 } from "uuid";
import type { SessionConfig } from "../../../streams/agent-config.ts";
import type { Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { createWorld, type World } from "./world.ts";
import { ended, entryOf, instancesOf, restarted } from "./of-world.ts";

const session: SessionConfig = {
  key: "{repository}#{number}",
  keepMs: 86_400_000,
  maxTokens: null,
  whileRunning: "steer",
};

const trigger: Trigger = {
  kind: "webhook",
  event: {
    source: "gh",
    type: "github",
    event: "issues",
    action: "opened",
    repo: "octo/site",
    number: 7,
    title: "Dark mode",
    body: null,
    url: null,
    author: "ada",
    labels: [],
    sender: "ada",
    branch: null,
    conclusion: null,
    timestamp: "2026-11-24T09:00:00Z",
    receiptId: "0193a1b2-0000-7000-8000-000000000002",
  },
};

async function world(whileRunning: SessionConfig["whileRunning"] = "steer"): Promise<World> {
  const agent = anAgent("a", { scale: 9, session: { ...session, whileRunning } });
  const one = createWorld({ agents: [agent] });
  await one.start();
  return one;
}

/** A committed delivery of a session key; its item. */
async function deliver({ store, dispatch }: World, key = "octo/site#7"): Promise<WorkItem> {
  const item = { ...anItem(uuidV7(), "a", trigger), at: Date.now(), session: key };
  await store.work.enqueue([item]);
  dispatch([item]);
  return item;
}

/** The first run of a key. */
async function begun(of: World, key?: string): Promise<string> {
  const before = instancesOf(of, "a").length;
  await deliver(of, key);
  await expect.poll(() => instancesOf(of, "a")).toHaveLength(before + 1);
  return instancesOf(of, "a").at(-1) ?? "";
}

const received = async (of: World, run: string, after = 0) =>
  (await of.ask(run, "inbox", { after })).messages;
const stateOf = (of: World, { id }: WorkItem) => of.history().find((entry) => entry.id === id);

describe("a delivery whose session key has a live run", () => {
  test("is sent into the run, and ends once the run has received it", async () => {
    const here = await world();
    const run = await begun(here);
    const item = await deliver(here);
    const [message] = await received(here, run);
    expect(message).toMatchObject({ kind: "delivery", by: "ada via a webhook" });
    expect(JSON.parse(message?.text ?? "")).toMatchObject({ event: "issues" });
    expect(stateOf(here, item)?.outcome).toBeNull();
    void here.ask(run, "inbox", { after: message?.seq ?? 0 });
    await expect.poll(() => stateOf(here, item)?.outcome).toBe("succeeded");
    expect(stateOf(here, item)?.reason).toBe(`sent into ${run}, the live run of its session key`);
    await ended(here, run);
    expect(instancesOf(here, "a")).toEqual([run]);
  });

  test("starts its own run if the run ends before it has received it", async () => {
    const here = await world();
    const run = await begun(here);
    const item = await deliver(here);
    expect(await received(here, run)).toHaveLength(1);
    await ended(here, run);
    await expect.poll(() => instancesOf(here, "a")).toHaveLength(2);
    expect(stateOf(here, item)?.instanceId).toBe(instancesOf(here, "a")[1]);
  });

  test("is sent once, even if the scheduler is killed", async () => {
    const here = await world();
    const run = await begun(here);
    const item = await deliver(here);
    expect(await received(here, run)).toHaveLength(1);
    const again = await restarted(here, [run]);
    expect(await received(again, run)).toHaveLength(1);
    expect(again.inbox.ofRun(run)).toHaveLength(1);
    await ended(again, run);
    await expect.poll(() => instancesOf(again, "a")).toHaveLength(2);
    expect(stateOf(again, item)?.instanceId).not.toBe(run);
  });

  test("waits again if its run is lost after it has received it, since that is tried again", async () => {
    const here = await world();
    const run = await begun(here);
    const item = await deliver(here);
    const [message] = await received(here, run);
    void here.ask(run, "inbox", { after: message?.seq ?? 0 });
    await expect.poll(() => stateOf(here, item)?.outcome).toBe("succeeded");
    await here.store.channels.add({ instanceId: run, tokenHash: "", dir: "/" });
    const again = await restarted(here, []);
    await expect.poll(() => instancesOf(again, "a")).toHaveLength(1);
    expect(stateOf(again, item)?.outcome).toBeNull();
  });

  test("waits behind the run without whileRunning, and one of another key does not", async () => {
    const here = await world("wait");
    const run = await begun(here);
    const item = await deliver(here);
    const other = await begun(here, "octo/site#8");
    expect(here.inbox.ofRun(run)).toEqual([]);
    expect(entryOf(here, other)).toBeDefined();
    await ended(here, run);
    await expect.poll(() => stateOf(here, item)?.instanceId ?? null).not.toBeNull();
  });
});
