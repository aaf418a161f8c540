import type { HistoryEntry } from "../../src/foundation/contracts/history.ts";
import { callOf, commandAgents, until } from "../helpers/command-agents.ts";
import { containerProject, containersOfProject } from "../helpers/container-project.ts";
import { engineSetupMs, testEngine } from "../helpers/docker.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { githubExample } from "../features/webhooks/deliveries.ts";

vi.setConfig({ testTimeout: 120_000 });
const { engine, missing } = await testEngine();
let project: LiveProject;

const published = { published: "Agents can work together now." };

/** Expects the traces of both agents of the example that worked with and for each other. */
async function expectTeamwork(): Promise<void> {
  const shortOf = ({ agent, kind, caller, outcome }: HistoryEntry) =>
    [agent, kind, caller?.replace(/-[a-z2-7]{8}$/, ""), outcome].join(" ");
  await expect
    .poll(async () => (await project.history()).map(shortOf), slowly)
    .toEqual([
      "writer agent-call reviewer succeeded",
      "reviewer agent-call writer succeeded",
      "writer manual  succeeded",
    ]);
  const [callBack, review, writing] = await project.history();
  expect(writing).toMatchObject({ attempt: 1, value: published });
  expect(callBack).toMatchObject({ instanceId: writing?.instanceId, deadLetter: false });
  expect(callBack?.reason).toContain("waited for it");
  expect(review).toMatchObject({ caller: writing?.instanceId, value: { words: 5 } });
  expect(await project.json("/locks/status")).toEqual({ locks: [] });
}

test("the agents of examples/teamwork hand work to each other, with a lock between them", async () => {
  project = await LiveProject.copy("examples/teamwork");
  await project.start();
  const run: unknown = JSON.parse(await project.print("run", "writer", "--json"));
  expect(run).toMatchObject({ outcome: "succeeded", value: published });
  await expectTeamwork();
});

test.skipIf(missing !== null)(
  "closed containers of examples/teamwork pause while they wait and survive kill -9 of the scheduler",
  async () => {
    project = await containerProject(engine, "examples/teamwork");
    await project.edit("reviewer.script.toml", "reading the draft; sleep 1", "reading; sleep 6");
    for (const agent of ["writer", "reviewer"]) {
      await project.edit(`agents/${agent}/config.toml`, /\[runtime\][^]*$/, "");
    }
    await project.start();
    expect(await project.trigger("writer")).toEqual([202]);
    const paused = async () => (await containersOfProject(engine, project.dir, ["paused"])).length;
    await expect.poll(paused, { timeout: engineSetupMs, interval: 200 }).toBeGreaterThan(0);
    await project.crash();
    await expectTeamwork();
  },
  engineSetupMs + 120_000,
);

const startedAt = (agent: string, kind?: HistoryEntry["kind"]) => async () =>
  (await project.latest(agent, kind))?.startedAt;
const statusTextOf = (agent: string) => async () => (await project.agent(agent))?.statusText;
const latest = (agent: string) => expect.poll(() => project.latest(agent), slowly);
const done = { outcome: "succeeded", attempt: 1 };

async function deliver(event: string, payload: object): Promise<string> {
  const response = await fetch(`${project.scheduler.url}/webhooks/github/hub`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-github-event": event },
    body: JSON.stringify(payload),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { receiptId: string }).receiptId;
}

/** A command that returns the response to a wait. */
const wait = (args: string) => `al-return "$(wait_for_trigger ${args} 2>&1 | head -n 1)"`;

test("a held lock, a call, a wait and earlier deliveries survive kill -9 of the scheduler", async () => {
  project = await commandAgents((dir) => ({
    holder: `rlock demo:x; ${until(`${dir}/go`)}; runlock demo:x && al-return freed`,
    rival: `al-return "$(rlock demo:x)"`,
    caller: `${callOf("worker")}; al-return "$(al-subagent-wait "$id")"`,
    worker: `${until(`${dir}/go`)}; al-return 42`,
    waiter: wait("--kind agent-call --source late"),
    late: "echo 'here I am' | al-subagent waiter",
    delivered: `${until(`${dir}/go`)}; ${wait("--kind webhook --source hub --where issue.number=1 --timeout 0")}`,
    called: `${until(`${dir}/go`)}; ${wait("--kind agent-call --source early --timeout 0")}`,
    early: "echo early | al-subagent called",
  }));
  await project.append("config.toml", hub);
  await project.start();
  const running = ["holder", "caller", "waiter", "delivered", "called"];
  expect(new Set(await project.trigger(...running))).toEqual(new Set([202]));
  const held = { locks: [{ resource: "demo:x", agent: "holder" }] };
  await expect.poll(() => project.json("/locks/status"), slowly).toMatchObject(held);
  await expect.poll(startedAt("worker", "agent-call"), slowly).toBeTypeOf("string");
  await expect.poll(statusTextOf("waiter"), slowly).toMatch(/wait/);
  await expect.poll(statusTextOf("caller"), slowly).toMatch(/wait/);
  for (const agent of ["delivered", "called"]) {
    await expect.poll(startedAt(agent), slowly).toBeTypeOf("string");
  }
  await deliver("push", githubExample("push"));
  const receiptId = await deliver("issues", githubExample("issues", "opened"));
  await project.print("run", "early");

  await project.crash();

  expect(await project.json("/locks/status")).toMatchObject(held);
  expect(JSON.parse(await project.print("run", "rival", "--json"))).toMatchObject({
    value: { ok: false, error: "held", holder: { agent: "holder" } },
  });
  await project.print("run", "late");
  const trigger = { caller: "late", context: "here I am\n" };
  await latest("waiter").toMatchObject({ ...done, value: { ok: true, timedOut: false, trigger } });
  await project.write("go", "");
  await latest("holder").toMatchObject({ ...done, value: "freed" });
  const calls = [{ agent: "worker", outcome: "succeeded", value: 42 }];
  await latest("caller").toMatchObject({ ...done, value: { ok: true, calls } });
  const delivery = { ok: true, timedOut: false, trigger: { event: "issues", receiptId } };
  await latest("delivered").toMatchObject({ ...done, value: delivery });
  const call = { trigger: { caller: "early", context: "early\n" } };
  await latest("called").toMatchObject({ ...done, value: call });
  expect(await project.json("/locks/status")).toEqual({ locks: [] });
});

const hub = '\n[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n';
