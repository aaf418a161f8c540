import { afterEach, expect, it } from "vitest";
import type { HistoryEntry } from "../../src/foundation/contracts/history.ts";
import { callOf, commandAgents, latestOf, startAgents, until } from "../helpers/command-agents.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";
import { processesOf } from "../runtime/runners/shell-runs.ts";

let project: TestProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

const slowly = { timeout: 60_000 };
const runOf = (agent: string, kind?: HistoryEntry["kind"]) => latestOf(scheduler, agent, kind);

async function pidsOf(agent: string, kind?: HistoryEntry["kind"]): Promise<readonly number[]> {
  const instanceId = (await runOf(agent, kind))?.instanceId ?? null;
  const found = instanceId === null ? [] : await processesOf(instanceId);
  return found.map((line) => Number(line.replace("process ", "")));
}

/** kill -9 to all that a run is, once it is there. */
async function crash(agent: string, kind?: HistoryEntry["kind"]): Promise<void> {
  await expect.poll(() => pidsOf(agent, kind), slowly).not.toEqual([]);
  for (const pid of await pidsOf(agent, kind)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It went with another one.
    }
  }
}

it("refuses what would never end, and goes on when a holder or a callee crashes", async () => {
  project = await commandAgents((dir) => ({
    left: `rlock demo:l; touch '${dir}/l'; ${until(`${dir}/r`)}; al-return "$(rlock demo:r --wait 90)"`,
    right: `rlock demo:r; touch '${dir}/r'; ${until(`${dir}/l`)}; al-return "$(rlock demo:l --wait 90)"`,
    holder: `rlock demo:h; touch '${dir}/h'; sleep 100`,
    heir: `${until(`${dir}/h`)}; al-status wanting; al-return "$(rlock demo:h --wait 90)"`,
    boss: `${callOf("victim")}; al-return "$(al-subagent-wait "$id")"`,
    victim: "sleep 100",
  }));
  scheduler = await startTestScheduler(project);
  await startAgents(scheduler, "left", "right", "holder", "heir", "boss");

  const crossed = async () => (await Promise.all([runOf("left"), runOf("right")])).map(valueOf);
  await expect
    .poll(async () => (await crossed()).map(({ ok, error }) => error ?? ok).toSorted(), slowly)
    .toEqual(["deadlock", true]);
  const refused = (await crossed()).find(({ error }) => error === "deadlock");
  const [from, over, to, ...more] = refused?.path ?? [];
  expect([from, more]).toEqual([to, []]);
  const agents = [from, over].map((instance) => instance?.split("-")[0]);
  expect(agents.toSorted()).toEqual(["left", "right"]);

  await expect.poll(async () => (await lockHolders()).includes("holder"), slowly).toBe(true);
  await crash("holder");
  await expect
    .poll(() => runOf("heir"), slowly)
    .toMatchObject({
      ...{ outcome: "succeeded", value: { ok: true, resource: "demo:h" } },
    });

  await crash("victim", "agent-call");
  await expect
    .poll(() => runOf("boss"), slowly)
    .toMatchObject({
      outcome: "succeeded",
      value: {
        ok: true,
        timedOut: false,
        calls: [{ agent: "victim", state: "ended", outcome: "failed" }],
      },
    });
}, 240_000);

interface Value {
  readonly ok?: boolean;
  readonly error?: string;
  readonly path?: readonly string[];
}

function valueOf(entry: HistoryEntry | undefined): Value {
  return entry?.value ?? {};
}

async function lockHolders(): Promise<readonly string[]> {
  const { locks } = (await (await scheduler.api("/locks/status")).json()) as {
    locks: readonly { readonly agent: string }[];
  };
  return locks.map(({ agent }) => agent);
}
