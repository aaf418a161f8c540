import type { ReplayResult } from "../../src/foundation/contracts/operator-api.ts";
import { openStore } from "../../src/foundation/store/store.ts";
import type { WorkItem } from "../../streams/vocabulary.ts";
import { anAgent, anItem } from "../helpers/agents.ts";
import { callOf, commandAgents, until } from "../helpers/command-agents.ts";
import { ownLog, slowly, type LiveProject } from "../helpers/live-project.ts";
import { beginRun } from "../foundation/store/support.ts";

vi.setConfig({ testTimeout: 120_000 });
let project: LiveProject;

beforeEach(async () => {
  project = await commandAgents((dir) => ({
    waits: until(`${dir}/go`),
    callee: until(`${dir}/go`),
    caller: `${callOf("callee")}; ${until(`${dir}/go`)}`,
  }));
});

const start = (graceSeconds = 1) => project.start({ args: ["--grace", String(graceSeconds)] });

/** Lets every run end. */
const letGo = (): Promise<void> => project.write("go", "");

/** The history of an agent, oldest first. */
const historyOf = async (agent: string) => (await project.history(`agent=${agent}`)).toReversed();

const triesOf = (agent: string) => async (): Promise<readonly string[]> =>
  (await historyOf(agent)).map(({ kind, attempt, outcome }) => `${kind} ${attempt} ${outcome}`);

/** A run that is in its session, with the process of its supervisor. */
async function runOf(agent: string): Promise<{ instanceId: string; pid: number }> {
  const latest = async () => (await historyOf(agent)).at(-1)?.instanceId ?? "";
  await expect.poll(latest, slowly).not.toBe("");
  const instanceId = await latest();
  await expect.poll(() => ownLog(instanceId), slowly).toContain('"tool"');
  const [, record = ""] = / run (\{.*\})$/m.exec(await ownLog(instanceId)) ?? [];
  return { instanceId, pid: (JSON.parse(record) as { process: { pid: number } }).process.pid };
}

async function startedRunOf(agent: string): ReturnType<typeof runOf> {
  expect(await project.trigger(agent)).toEqual([202]);
  return runOf(agent);
}

test("a run ended by a scheduler's stop is interrupted and retried once, and al run exits with 143", async () => {
  const first = await start();
  const watched = project.al("run", "waits");
  await runOf("waits");
  expect(await first.stop()).toBe(0);
  const { code, stderr } = await watched;
  expect([code, stderr]).toEqual([143, expect.stringMatching(/interrupted after/)]);

  const second = await start();
  expect(await triesOf("waits")()).toEqual(["manual 1 interrupted", "manual 2 null"]);
  const [entry] = await historyOf("waits");
  expect(entry).toMatchObject({ exitCode: 143, deadLetter: false });
  expect(entry?.reason).toContain("tried once more at the next start");
  await runOf("waits");
  await second.stop();

  await letGo();
  await start();
  expect(await triesOf("waits")()).toEqual(["manual 1 interrupted", "manual 2 interrupted"]);
  expect((await historyOf("waits")).at(-1)).toMatchObject({ deadLetter: true });
});

test("a run ended by a machine's shutdown is interrupted, though it gets TERM with the scheduler", async () => {
  const first = await start(30);
  const { pid } = await startedRunOf("waits");
  first.signal("SIGTERM");
  await first.waitForOutput(/stopping/);
  process.kill(pid, "SIGTERM");
  expect(await first.exited).toBe(0);
  await letGo();
  await start();
  const tries = ["manual 1 interrupted", "manual 2 succeeded"];
  await expect.poll(triesOf("waits"), slowly).toEqual(tries);
});

test("a caller and its call are interrupted together, and only the caller repeats the call", async () => {
  const first = await start(0);
  await startedRunOf("caller");
  await runOf("callee");
  await first.stop();
  await letGo();
  await start();
  await expect
    .poll(triesOf("caller"), slowly)
    .toEqual(["manual 1 interrupted", "manual 2 succeeded"]);
  await expect
    .poll(triesOf("callee"), slowly)
    .toEqual(["agent-call 1 interrupted", "agent-call 2 rejected", "agent-call 1 succeeded"]);
});

const tick = { kind: "cron", scheduledFor: Date.UTC(2028, 1, 29) } as const;

test("a tick of the schedule whose run was interrupted waits for a runner instead of being skipped", async () => {
  const ticks = ["b", "c"].map((id): WorkItem => ({ ...anItem(id, "waits"), trigger: tick }));
  const store = openStore(project.dir);
  for (const item of ticks) {
    const instanceId = `waits-aaaaaaa${item.id}`;
    await beginRun(store, { instanceId, agent: anAgent("waits"), item });
  }
  await store.settings.recordStop(Date.now());
  store.close();
  await start();
  const before = ["cron 1 interrupted", "cron 1 interrupted"];
  expect(await triesOf("waits")()).toEqual([...before, "cron 2 null", "cron 2 null"]);
  await letGo();
  const after = [...before, "cron 2 succeeded", "cron 2 succeeded"];
  await expect.poll(triesOf("waits"), slowly).toEqual(after);
});

test("al replay and its route run work of every kind again and name its original", async () => {
  await letGo();
  const id = "0198c0de-7a11-7000-8000-5ec0ffee0001";
  const cron: WorkItem = { ...anItem(id, "waits"), trigger: tick };
  const store = openStore(project.dir);
  await store.work.refuse(cron, "missed", "no scheduler was up for it", false);
  store.close();
  const { waitForOutput } = await start();
  await project.print("run", "caller");
  const [call, callee] = [await historyOf("caller"), await historyOf("callee")];
  const originals = { waits: id, caller: call[0]?.id ?? "", callee: callee[0]?.id ?? "" };
  for (const [agent, original] of Object.entries(originals)) {
    const response = await project.post(`/api/triggers/${original}/replay`);
    const { matched } = (await response.json()) as ReplayResult;
    expect(matched).toMatchObject([{ agent, replayOf: original }]);
    const replay = async () =>
      (await historyOf(agent)).find(({ replayOf }) => replayOf === original);
    await expect.poll(replay, slowly).toMatchObject({ outcome: "succeeded", attempt: 1 });
    await waitForOutput(new RegExp(`run started .*a replay of ${original}`));
    expect(await project.print("replay", original)).toContain(`${agent} `);
  }
  const unknown = await project.al("replay", "0198c0de-7a11-7000-8000-5ec0ffee0009");
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/no receipt or trigger "0198c0de.*"[\s\S]*al history/);
});
