import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentName, benchProject } from "../bench/bench-project.ts";
import { githubDeliveries } from "../bench/deliveries.ts";
import { openSse } from "../bench/sse-client.ts";
import { sendLoad, type LoadRequest } from "../features/webhooks/load.ts";
import { agentConfig } from "../features/webhooks/webhook-project.ts";
import { startCounted, type Counted, type Counts } from "./counted.ts";

/** The agent's run does not end during the test, so further deliveries wait. */
const config = (n: number, hour = 3): string => `schedule = "${n % 60} ${hour} 1 1 *"
hooks.pre = ["sleep 60"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agentName(n)}"]
`;

const schedulers: Counted[] = [];

async function started(agents: number): Promise<Counted> {
  const project = await benchProject({ count: agents, config });
  const scheduler = await startCounted(project);
  schedulers.push(scheduler);
  return scheduler;
}

let few: Counted;
let many: Counted;
beforeAll(async () => {
  few = await started(10);
  many = await started(1_000);
  await atRest(few, 10);
  await atRest(many, 1_000);
}, 240_000);
afterAll(async () => {
  await Promise.all(schedulers.map((one) => one.api("/control/kill", { method: "POST" })));
  await Promise.all(schedulers.map((one) => one.stop()));
  await Promise.all(schedulers.map(({ project }) => project.remove()));
});

/** Files of logs that it has open. */
const openLogs = async (scheduler: Counted) =>
  (await scheduler.openFiles()).filter((path) => path.includes("/.al/logs/"));

const patience = { timeout: 60_000, interval: 500 };

/** Resolves once its start is over: each agent's log has its first line and is closed, and nothing more happens. */
async function atRest(scheduler: Counted, agents: number): Promise<void> {
  const logs = join(scheduler.project.dir, ".al", "logs");
  await vi.waitFor(async () => {
    const written = (await readdir(logs)).filter((name) => name.startsWith("agent-"));
    expect(written).toHaveLength(agents);
    expect(await openLogs(scheduler)).toEqual([]);
  }, patience);
  await settled(scheduler);
}

/** Resolves once two looks, half a second apart, are the same. */
async function settled(scheduler: Counted): Promise<void> {
  let last: unknown = null;
  await vi.waitFor(async () => {
    const { statements, opened, resources } = await scheduler.counts();
    const [before, now] = [last, { statements, opened: opened.length, resources }];
    last = now;
    expect(now).toEqual(before);
  }, patience);
}

/** The difference that something makes to a scheduler's counts. */
async function during(scheduler: Counted, act: () => Promise<unknown>): Promise<Counts> {
  const before = await scheduler.counts();
  await act();
  const { statements, commits, opened, ...held } = await scheduler.counts();
  return {
    statements: statements - before.statements,
    commits: commits - before.commits,
    opened: opened.slice(before.opened.length),
    ...held,
  };
}

test("an idle scheduler has as many files, threads, timers and handles with 1,000 agents as with 10, plus a watch per agent", async () => {
  const held = async (scheduler: Counted, agents: number): Promise<Record<string, number>> => {
    const { FSEventWrap: watches = 0, ...others } = (await scheduler.counts()).resources;
    return { ...others, watches: watches - agents, threads: await scheduler.threads() };
  };
  expect((await many.openFiles()).length).toBeLessThanOrEqual((await few.openFiles()).length);
  expect(await openLogs(many)).toEqual([]);
  const differences = async () => {
    const [one, other] = [await held(many, 1_000), await held(few, 10)];
    return Object.keys({ ...one, ...other }).filter((kind) => one[kind] !== other[kind]);
  };
  // A worker ends some seconds after its last task.
  await expect.poll(differences).toEqual([]);
});

async function deliver(
  { url }: Counted,
  requests: readonly LoadRequest[],
  connections: number,
): Promise<void> {
  const answers = await sendLoad(url, requests, connections);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
}

describe("with 1,000 agents as with 10", () => {
  test.each([
    ["no agent waits for", () => "acme/app"],
    ["one agent waits for", () => `acme/${agentName(7)}`],
  ])("a webhook delivery that %s takes as many SQL statements", async (_for, repo) => {
    const count = 20;
    const cost = async (scheduler: Counted): Promise<number> => {
      // One after the other, so that each is a transaction of its own. The first starts a run.
      await deliver(scheduler, githubDeliveries({ count: 2, repo }), 1);
      await settled(scheduler);
      const requests = githubDeliveries({ count, repo });
      const { statements } = await during(scheduler, () => deliver(scheduler, requests, 1));
      return statements / count;
    };
    const [ten, thousand] = [await cost(few), await cost(many)];
    expect(ten).toBeGreaterThan(1);
    expect(thousand).toBeLessThan(ten + 0.5);
  });

  test("a burst of work is committed in few transactions", async () => {
    for (const scheduler of [few, many]) {
      const requests = githubDeliveries({ count: 500 });
      const { commits } = await during(scheduler, () => deliver(scheduler, requests, 100));
      expect(commits).toBeGreaterThan(0);
      expect(commits).toBeLessThan(250);
    }
  });

  test("a new agent config makes the scheduler read only that agent's files", async () => {
    for (const scheduler of [few, many]) {
      const dir = join(scheduler.project.dir, "agents", agentName(5));
      const client = await openSse(scheduler, "/dashboard/api/status-stream");
      const { opened } = await during(scheduler, async () => {
        const seen = client.waitFor(`"name":"${agentName(5)}"`);
        await writeFile(join(dir, "config.toml"), agentConfig(config(5, 4)));
        await seen;
      });
      client.close();
      const read = opened.filter((path) => path.startsWith(join(scheduler.project.dir, "agents")));
      expect(new Set(read)).toEqual(new Set([join(dir, "config.toml"), join(dir, "SKILL.md")]));
      expect(read.length).toBeLessThanOrEqual(4);
    }
  });

  test("a status change is sent to a client in as many events and bytes", async () => {
    const sent = async (scheduler: Counted) => {
      const client = await openSse(scheduler, "/dashboard/api/status-stream");
      const change = async (what: "disable" | "enable", agent: string) => {
        const seen = client.waitFor(`"name":"${agent}"`, `"enabled":${what === "enable"}`);
        await scheduler.api(`/control/agents/${agent}/${what}`, { method: "POST" });
        await seen;
      };
      // Whatever else was under way has come with a first change.
      await change("disable", agentName(4));
      await settled(scheduler);
      const [events, bytes] = [client.events(), client.bytes()];
      const audited = client.waitFor('"changed":["audit"');
      await change("disable", agentName(3));
      await audited;
      await settled(scheduler);
      client.close();
      return { events: client.events() - events, bytes: client.bytes() - bytes };
    };
    const [ten, thousand] = [await sent(few), await sent(many)];
    // The agent's row, and that the audit trail has a new one: in one event if both came at once.
    expect(Math.max(ten.events, thousand.events)).toBeLessThanOrEqual(2);
    // Numbers have more digits, and a further event has a head.
    expect(thousand.bytes).toBeLessThan(ten.bytes + 100);
  });
});
